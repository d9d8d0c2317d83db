package docs

import (
	"encoding/json"
	"fmt"
	"strings"

	"almanac/ingest/memory"
)

// pages is what a run leaves for the next one.
type pages struct {
	Head  string                `json:"head"`
	Pages map[string]remembered `json:"pages"` // by path in the repository
}

// remembered is what a page was made of.
type remembered struct {
	// Inputs are the files that were looked up, with the hash of their content:
	// the page's own, what it includes, and what it wanted to and was not there.
	Inputs  map[string]string `json:"inputs"`
	Origin  origin            `json:"origin"`
	Other   bool              `json:"other,omitempty"`   // of another version
	Aliases []string          `json:"aliases,omitempty"` // its former keys
	Hidden  bool              `json:"hidden,omitempty"`  // it has no record
}

const memoryPrefix = "pages-"

// recall returns what the run that left the cursor remembered: nothing if that
// is gone, damaged or was made under other options.
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

// memoryName is a cursor as a name of a file.
func memoryName(cursor string) string { return strings.ReplaceAll(cursor, " ", "-") }

// remember writes the memory down under the cursor's name.
func (p pages) remember(dir, cursor, before string) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("remember what pages were made of: %w", err)
	}
	return memory.Files{Dir: dir, Prefix: memoryPrefix}.Write(memoryName(cursor), raw, memoryName(before))
}
