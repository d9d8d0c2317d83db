// Package listing is the common part of connectors that read lists: a feed, a
// sitemap or a list of papers names items, each at its own address. It requests
// what changed since the previous run, knows what it saw, and handles failures: a
// known item that cannot be read keeps its record, and a server that is down gets no
// further requests.
package listing

import (
	"time"

	"almanac/ingest"
)

// State is what a run leaves for the next one.
type State struct {
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
	// LeftOut is why it has no record; "": it has one.
	LeftOut string `json:"left_out,omitempty"`
	// Pending: it could not be read properly and must be read again.
	Pending bool `json:"pending,omitempty"`
	// Unlisted: the list used to name it but no longer does.
	Unlisted bool `json:"unlisted,omitempty"`
	// Date is when it was published, if that determines how long it is listed.
	Date time.Time `json:"date,omitzero"`
	// Own: the options name it, independent of the list.
	Own bool `json:"own,omitempty"`
	// Bare: its record is made of what the list says, without its content.
	Bare bool `json:"bare,omitempty"`
}

// Stamp returns a digest of an item's entry in a list.
func Stamp(values ...any) string { return ingest.Digest(values...) }

// Stale is the state for a run that reads items otherwise: they are known but must be
// read again.
func (s State) Stale() State {
	items := map[string]Seen{}
	for name, seen := range s.Items {
		seen.Validators, seen.Stamp, seen.Pending = Validators{}, "", true
		items[name] = seen
	}
	return State{Items: items}
}
