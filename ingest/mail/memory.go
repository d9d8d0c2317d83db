package mail

import "almanac/ingest/memory"

// rules is the version of how this package reads an archive. A new version
// makes the next run read every thread again.
const rules = "2"

// archives is what a run remembers for the next one.
type archives struct {
	// Settings is a digest of the rules and options that the threads were read
	// with.
	Settings string          `json:"settings"`
	Groups   map[string]past `json:"groups"`
}

// past is what is remembered about a group's archive.
type past struct {
	Print    string   `json:"print"` // digest of its files or its export
	ETag     string   `json:"etag,omitempty"`
	Modified string   `json:"modified,omitempty"`
	Threads  []thread `json:"threads"` // sorted by number
}

// thread is what is remembered about a thread: its key is that of its first
// message.
type thread struct {
	Print    uint64  `json:"print"`
	Messages []int64 `json:"messages"` // numbers, oldest first
}

const memoryPrefix = "threads-"

func (c *connector) files() memory.Files {
	return memory.Files{Dir: c.env.WorkDir, Prefix: memoryPrefix}
}

// recall returns what the run that left the cursor remembered: nothing if its
// file is missing or damaged, or the options differ.
func (c *connector) recall(cursor string) archives {
	none := archives{Settings: memory.Settings(rules, c.opts, c.env.Network.Proposals.Key("0")),
		Groups: map[string]past{}}
	var a archives
	if !c.files().Recall(cursor, &a) || a.Settings != none.Settings || a.Groups == nil {
		return none
	}
	return a
}
