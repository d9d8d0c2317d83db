package packages

import (
	"time"

	"almanac/ingest/memory"
)

// rules is the version of how this package reads a registry. A new version
// makes the next run read every package again.
const rules = "1"

// state is what a run remembers for the next one.
type state struct {
	Settings string          `json:"settings"` // digest of the rules and options
	Packages map[string]seen `json:"packages"` // by registry:name
}

// seen is what is remembered about a package.
type seen struct {
	Keys     []string `json:"keys"` // keys of its records
	ETag     string   `json:"etag,omitempty"`
	Modified string   `json:"modified,omitempty"`

	List   string            `json:"list,omitempty"`   // digest of an image's tags
	Swept  time.Time         `json:"swept,omitzero"`   // when the tags were last resolved
	Tags   map[string]string `json:"tags,omitempty"`   // tag → digest
	Images map[string]image  `json:"images,omitempty"` // by digest
}

func (c *connector) files() memory.Files {
	return memory.Files{Dir: c.env.WorkDir, Prefix: "packages-"}
}

// recall returns what the run that left the cursor remembered: nothing if its
// file is missing or damaged, or the options differ.
func (c *connector) recall(cursor string) state {
	none, s := state{Settings: memory.Settings(rules, c.opts), Packages: map[string]seen{}}, state{}
	if !c.files().Recall(cursor, &s) || s.Settings != none.Settings || s.Packages == nil {
		return none
	}
	return s
}
