package docs

import (
	"encoding/json"
	"fmt"
	"strings"

	"almanac/ingest/memory"
)

// pages is what one run passes to the next.
type pages struct {
	Head  string                `json:"head"`
	Pages map[string]remembered `json:"pages"` // by path in the repository
}

// remembered is what a page was made from.
type remembered struct {
	// Inputs are the files that were looked up, with the hashes of their content:
	// the page's own and its includes, even those that do not exist.
	Inputs  map[string]string `json:"inputs"`
	Origin  origin            `json:"origin"`
	Other   bool              `json:"other,omitempty"`   // belongs to another version
	Aliases []string          `json:"aliases,omitempty"` // its former keys
	Hidden  bool              `json:"hidden,omitempty"`  // it has no record
}

const memoryPrefix = "pages-"

// recall returns what the run with this cursor remembered: nothing if that is
// missing, damaged or was made with other options.
func recall(dir, cursor, settings string) pages {
	head, made, ok := strings.Cut(cursor, " ")
	if !ok || made != settings {
		return pages{}
	}
	raw, err := memory.Files{Dir: dir, Prefix: memoryPrefix}.Read(memoryName(cursor))
	var p pages
	if err != nil || json.Unmarshal(raw, &p) != nil || p.Head != head {
		return pages{}
	}
	return p
}

// memoryName returns the file name for a cursor.
func memoryName(cursor string) string { return strings.ReplaceAll(cursor, " ", "-") }

// remember stores the memory under the cursor's name.
func (p pages) remember(dir, cursor, before string) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("store what pages were made from: %w", err)
	}
	return memory.Files{Dir: dir, Prefix: memoryPrefix}.Write(memoryName(cursor), raw, memoryName(before))
}
