// Package listing is what connectors of lists have in common: a feed, a
// sitemap or a list of papers names items, each at an address of its own. It
// asks for what changed since the run before, remembers what was seen, and
// settles what cannot be read: a known item stays as it is, a server that is
// down is not asked for the rest.
//
// What was seen is kept in a file of the source's working directory, under
// the name that the cursor holds; without that file everything is read again.
//
// It may import catalog, ingest, ingest/outbound and ingest/webpage.
package listing

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Memory is what a run leaves for the next one.
type Memory struct {
	// Settings is of what decides how items are read; see Settings.
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

// Settings digests the values that decide how items are read. A change of
// them makes everything be read again.
func Settings(values ...any) string {
	raw, err := json.Marshal(values)
	if err != nil {
		panic("listing: settings are plain data: " + err.Error())
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// Stamp digests what a list says of an item.
func Stamp(values ...any) string { return Settings(values...) }

const (
	prefix    = "seen-"
	maxMemory = 256 << 20 // bytes: a million items
)

var cursorShape = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Recall returns what the run that left the cursor remembered in a directory:
// nothing if its file is gone or damaged. What was read under other settings
// is known, and to be read again.
func Recall(dir, cursor, settings string) Memory {
	none := Memory{Settings: settings, Items: map[string]Seen{}}
	if !cursorShape.MatchString(cursor) {
		return none
	}
	f, err := os.Open(filepath.Join(dir, prefix+cursor))
	if err != nil {
		return none
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxMemory))
	m := Memory{}
	if err != nil || name(raw) != cursor || json.Unmarshal(raw, &m) != nil || m.Items == nil {
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
	raw, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("remember what was seen: %w", err)
	}
	cursor = name(raw)
	if cursor == before {
		return cursor, nil
	}
	if err := write(dir, prefix+cursor, raw); err != nil {
		return "", fmt.Errorf("remember what was seen: %w", err)
	}
	old, _ := filepath.Glob(filepath.Join(dir, prefix+"*")) // the pattern is well formed
	for _, file := range old {
		if !slices.Contains([]string{cursor, before}, strings.TrimPrefix(filepath.Base(file), prefix)) {
			_ = os.Remove(file) // tried again by the next run
		}
	}
	return cursor, nil
}

func name(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// write puts a whole file in place or none.
func write(dir, name string, data []byte) (err error) {
	f, err := os.CreateTemp(dir, prefix+"*.tmp")
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
