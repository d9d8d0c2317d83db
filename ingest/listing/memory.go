// Package listing is the common part of connectors that read lists: a feed, a
// sitemap or a list of papers names items, each at its own address. It requests
// what changed since the previous run, remembers what it saw, and handles
// failures: a known item that cannot be read keeps its record, and a server
// that is down gets no further requests.
//
// The memory is a file in the source's working directory, named by the cursor;
// without that file everything is read again.
package listing

import (
	"time"

	"almanac/ingest/memory"
)

// Memory is what a run remembers for the next one.
type Memory struct {
	// Settings is the digest of what determines how items are read; see
	// memory.Settings.
	Settings string `json:"settings"`
	// Swept is when all items were last requested.
	Swept time.Time `json:"swept,omitzero"`
	// List holds the validators of the list itself.
	List Validators `json:"list,omitzero"`
	// Items are keyed by a name that is stable across runs.
	Items map[string]Seen `json:"items"`
}

// Validators identify the copy that was read (RFC 9110, 8.8).
type Validators struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"modified,omitempty"`
}

// Seen is what is remembered about an item.
type Seen struct {
	Validators
	Key     string `json:"key,omitempty"`     // natural key of its record; "" if it has none
	Address string `json:"address,omitempty"` // where it was read
	Stamp   string `json:"stamp,omitempty"`   // digest of its entry in the list
	// Pending: it could not be read properly and must be read again.
	Pending bool `json:"pending,omitempty"`
	// Unlisted: the list used to name it but no longer does.
	Unlisted bool `json:"unlisted,omitempty"`
	// Date is when it was published, if that determines how long it is listed.
	Date time.Time `json:"date,omitzero"`
	// Own: the options name it, independent of the list.
	Own bool `json:"own,omitempty"`
}

// Stamp returns a digest of an item's entry in a list.
func Stamp(values ...any) string { return memory.Settings(values...) }

const prefix = "seen-"

// Recall returns the memory in a directory of the run that left the cursor:
// nothing if its file is missing or damaged. Items read under other settings
// are known but must be read again.
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

// Remember stores the memory and returns the cursor that names it. The file of
// the previous cursor is kept, because the run may still be interrupted.
func (m Memory) Remember(dir, before string) (cursor string, err error) {
	return memory.Files{Dir: dir, Prefix: prefix}.Remember(m, before)
}
