package forum

import (
	"encoding/json"
	"time"

	"almanac/ingest/memory"
)

// rules is the version of how this package reads a forum. After a change every
// topic is read again.
const rules = "1"

// state is what one run passes to the next.
type state struct {
	// Settings is a digest of the rules and options that topics were read with.
	Settings string         `json:"settings"`
	Bumped   time.Time      `json:"bumped"` // the latest activity in the list
	Swept    time.Time      `json:"swept"`  // when the whole list was read
	Topics   map[int64]seen `json:"topics"`
}

// seen is the state of a topic that was read.
type seen struct {
	Line  uint64  `json:"line"`  // fingerprint of its line in the list; 0: read it again
	Posts []int64 `json:"posts"` // the numbers of its posts, ascending
}

func (c *connector) settings() string { return memory.Settings(rules, c.opts.URL, c.opts.Exclude) }

func (c *connector) files() memory.Files {
	return memory.Files{Dir: c.env.WorkDir, Prefix: "topics-"}
}

// recall returns the state that a cursor names; an empty one if it does not exist,
// is damaged or was stored with other options.
func (c *connector) recall(cursor string) state {
	var s state
	raw, err := c.files().Read(cursor)
	if err != nil || json.Unmarshal(raw, &s) != nil || s.Topics == nil || s.Settings != c.settings() ||
		s.cursor() != cursor {
		return state{Topics: map[int64]seen{}}
	}
	return s
}

// remember stores the state and returns the cursor that names it.
func (c *connector) remember(s state, before string) (string, error) {
	s.Settings = c.settings()
	raw, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	return s.cursor(), c.files().Write(s.cursor(), raw, before)
}

// cursor does not depend on the time of the sweep: one that finds nothing changes
// nothing.
func (s state) cursor() string {
	s.Swept = time.Time{}
	raw, _ := json.Marshal(s) // with Swept, it can be
	return memory.Digest(raw)
}
