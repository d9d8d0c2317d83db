package docs

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// memory is what a run leaves for the next one.
type memory struct {
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

const (
	memoryPrefix = "pages-"
	maxMemory    = 256 << 20 // bytes: hundreds of thousands of pages
)

// recall returns what the run that left the cursor remembered: nothing if that
// is gone, damaged or was made under other options.
func recall(dir, cursor, settings string) memory {
	head, made, ok := strings.Cut(cursor, " ")
	if !ok || made != settings || strings.ContainsAny(cursor, "/\\") {
		return memory{}
	}
	f, err := os.Open(filepath.Join(dir, memoryName(cursor)))
	if err != nil {
		return memory{}
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxMemory))
	var m memory
	if err != nil || json.Unmarshal(raw, &m) != nil || m.Head != head {
		return memory{}
	}
	return m
}

func memoryName(cursor string) string { return memoryPrefix + strings.ReplaceAll(cursor, " ", "-") }

// remember writes the memory down under the cursor's name. The file of the
// cursor before stays, because the run may still be cut short.
func (m memory) remember(dir, cursor, before string) error {
	raw, err := json.Marshal(m)
	if err == nil {
		err = write(dir, memoryName(cursor), raw)
	}
	if err != nil {
		return fmt.Errorf("remember what pages were made of: %w", err)
	}
	old, _ := filepath.Glob(filepath.Join(dir, memoryPrefix+"*")) // the pattern is well formed
	for _, file := range old {
		if !slices.Contains([]string{memoryName(cursor), memoryName(before)}, filepath.Base(file)) {
			_ = os.Remove(file) // tried again by the next run
		}
	}
	return nil
}

// write puts a whole file in place or none.
func write(dir, name string, data []byte) (err error) {
	f, err := os.CreateTemp(dir, memoryPrefix+"*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
