package packages

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

// rules is the version of what this package makes of an answer. A change of it
// makes every package be read again.
const rules = "1"

// memory is what a run leaves for the next one.
type memory struct {
	Settings string          `json:"settings"` // digest of the rules and options
	Packages map[string]seen `json:"packages"` // by registry:name
}

// seen is what is remembered of a package.
type seen struct {
	Keys     []string `json:"keys"` // of its records
	ETag     string   `json:"etag,omitempty"`
	Modified string   `json:"modified,omitempty"`

	List   string            `json:"list,omitempty"`   // digest of an image's tags
	Swept  time.Time         `json:"swept,omitzero"`   // when it was asked where they point
	Tags   map[string]string `json:"tags,omitempty"`   // digests they point to
	Images map[string]image  `json:"images,omitempty"` // by digest
}

const (
	memoryPrefix = "packages-"
	maxMemory    = 64 << 20 // bytes
)

var cursorShape = regexp.MustCompile(`^[0-9a-f]{32}$`)

func (c *connector) settings() string {
	raw, err := json.Marshal([]any{rules, c.opts})
	if err != nil {
		panic("packages: options are plain data: " + err.Error())
	}
	return hash(raw)
}

func hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// recall returns the memory that a cursor names: an empty one if its file is
// gone or damaged, or was left under other options.
func (c *connector) recall(cursor string) memory {
	none := memory{Settings: c.settings(), Packages: map[string]seen{}}
	if !cursorShape.MatchString(cursor) {
		return none
	}
	f, err := os.Open(filepath.Join(c.env.WorkDir, memoryPrefix+cursor))
	if err != nil {
		return none
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxMemory))
	var m memory
	if err != nil || hash(raw) != cursor || json.Unmarshal(raw, &m) != nil || m.Settings != none.Settings || m.Packages == nil {
		return none
	}
	return m
}

// remember writes the memory down and returns the cursor that names it. The
// file of the run's own cursor stays, because the new cursor may never be
// stored.
func (c *connector) remember(m memory, before string) (string, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	cursor := hash(raw)
	file := filepath.Join(c.env.WorkDir, memoryPrefix+cursor)
	err = os.WriteFile(file+".new", raw, 0o600)
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		return "", fmt.Errorf("remember what was seen: %w", err)
	}
	files, _ := filepath.Glob(filepath.Join(c.env.WorkDir, memoryPrefix+"*")) // the pattern is well formed
	for _, file := range files {
		if !slices.Contains([]string{cursor, before}, strings.TrimPrefix(filepath.Base(file), memoryPrefix)) {
			_ = os.Remove(file) // tried again by the next run
		}
	}
	return cursor, nil
}
