package mail

import "almanac/ingest/memory"

// rules is the version of what this package makes of an archive. A change of
// it makes every thread be read again.
const rules = "1"

// archives is what a run leaves for the next one.
type archives struct {
	// Settings digests the rules and options the threads were read with.
	Settings string          `json:"settings"`
	Groups   map[string]past `json:"groups"`
}

// past is what is remembered of a group's archive.
type past struct {
	Print    string   `json:"print"` // of its files or its export
	ETag     string   `json:"etag,omitempty"`
	Modified string   `json:"modified,omitempty"`
	Threads  []thread `json:"threads"` // by number
}

// thread is what is remembered of a thread: its key is that of the first of
// its messages.
type thread struct {
	Print    uint64  `json:"print"`
	Messages []int64 `json:"messages"` // their numbers, oldest first
}

const memoryPrefix = "threads-"

func (c *connector) files() memory.Files {
	return memory.Files{Dir: c.env.WorkDir, Prefix: memoryPrefix}
}

// recall returns what the run that left the cursor read: nothing if its file
// is gone or damaged, or was left under other options.
func (c *connector) recall(cursor string) archives {
	none := archives{Settings: memory.Settings(rules, c.opts, c.env.Network.Proposals.Key("0")), Groups: map[string]past{}}
	var a archives
	if !c.files().Recall(cursor, &a) || a.Settings != none.Settings || a.Groups == nil {
		return none
	}
	return a
}
