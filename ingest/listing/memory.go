// Package listing is what connectors of lists have in common: a feed, a
// sitemap or a list of papers names items, each at an address of its own. It
// asks for what changed since the run before, remembers what was seen, and
// settles what cannot be read: a known item stays as it is, a server that is
// down is not asked for the rest.
//
// What was seen is kept in a file of the source's working directory, under
// the name that the cursor holds; without that file everything is read again.
package listing

import (
	"time"

	"almanac/ingest/memory"
)

// Memory is what a run leaves for the next one.
type Memory struct {
	// Settings is of what decides how items are read; see memory.Settings.
	Settings string `json:"settings"`
	// Swept is when all items were asked for last.
	Swept time.Time `json:"swept,omitzero"`
	// List is what the server said of the list itself.
	List Validators `json:"list,omitzero"`
	// Items are by a name of their own, the same in every run.
	Items map[string]Seen `json:"items"`
}

// Validators are those of the copy that was read (RFC 9110, 8.8).
type Validators struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"modified,omitempty"`
}

// Seen is what is remembered of an item.
type Seen struct {
	Validators
	Key     string `json:"key,omitempty"`     // natural key of its record; "" = it became none
	Address string `json:"address,omitempty"` // where it was read
	Stamp   string `json:"stamp,omitempty"`   // of what the list said of it
	// Pending: it was not read as it should be and is read again.
	Pending bool `json:"pending,omitempty"`
	// Unlisted: the list named it once and does no more.
	Unlisted bool `json:"unlisted,omitempty"`
	// Date is when it was published, where that decides how long it is listed.
	Date time.Time `json:"date,omitzero"`
	// Own: the options name it, whatever the list does.
	Own bool `json:"own,omitempty"`
}

// Stamp digests what a list says of an item.
func Stamp(values ...any) string { return memory.Settings(values...) }

const prefix = "seen-"

// Recall returns what the run that left the cursor remembered in a directory:
// nothing if its file is gone or damaged. What was read under other settings
// is known, and to be read again.
func Recall(dir, cursor, settings string) Memory {
	none, m := Memory{Settings: settings, Items: map[string]Seen{}}, Memory{}
	if !(memory.Files{Dir: dir, Prefix: prefix}).Recall(cursor, &m) || m.Items == nil {
		return none
	}
	if m.Settings != settings {
		for name, seen := range m.Items {
			seen.Validators, seen.Stamp, seen.Pending = Validators{}, "", true
			none.Items[name] = seen
		}
		return none
	}
	return m
}

// Remember writes the memory down and returns the cursor that names it. The
// file of the cursor before stays, because the run may still be cut short.
func (m Memory) Remember(dir, before string) (cursor string, err error) {
	return memory.Files{Dir: dir, Prefix: prefix}.Remember(m, before)
}
