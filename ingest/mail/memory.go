package mail

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// rules is the version of what this package makes of an archive. A change of
// it makes every thread be read again.
const rules = "1"

// memory is what a run leaves for the next one.
type memory struct {
	// Settings digests the rules and options the threads were read with.
	Settings string          `json:"settings"`
	Groups   map[string]past `json:"groups"`
}

// past is what is remembered of a group's archive.
type past struct {
	Print    string   `json:"print"` // of its files or its export
	ETag     string   `json:"etag,omitempty"`
	Modified string   `json:"modified,omitempty"`
	Threads  []thread `json:"threads"` // by number
}

// thread is what is remembered of a thread: its key is that of the first of
// its messages.
type thread struct {
	Print    uint64  `json:"print"`
	Messages []int64 `json:"messages"` // their numbers, oldest first
}

const memoryPrefix = "threads-"

var cursorShape = regexp.MustCompile(`^[0-9a-f]{32}$`)

func (c *connector) settings() string {
	raw, err := json.Marshal([]any{rules, c.opts, c.env.Network.Proposals.Prefix})
	if err != nil {
		panic("mail: options are plain data: " + err.Error())
	}
	return digestOf(raw)[:16]
}

func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// recall returns the memory that a cursor names: an empty one if its file is
// gone or damaged, or was left under other options.
func (c *connector) recall(cursor string) memory {
	none := memory{Settings: c.settings(), Groups: map[string]past{}}
	if !cursorShape.MatchString(cursor) {
		return none
	}
	raw, err := os.ReadFile(filepath.Join(c.env.WorkDir, memoryPrefix+cursor))
	var m memory
	if err != nil || digestOf(raw) != cursor || json.Unmarshal(raw, &m) != nil || m.Settings != none.Settings || m.Groups == nil {
		return none
	}
	return m
}

// remember writes the memory and returns the cursor that names it. The file of
// the run's own cursor stays until the next run, because the new cursor may
// never be stored.
func (c *connector) remember(m memory, before string) (string, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	cursor := digestOf(raw)
	file := filepath.Join(c.env.WorkDir, memoryPrefix+cursor)
	if err := os.WriteFile(file+".new", raw, 0o600); err != nil {
		return "", err
	}
	if err := os.Rename(file+".new", file); err != nil {
		return "", err
	}
	files, _ := filepath.Glob(filepath.Join(c.env.WorkDir, memoryPrefix+"*")) // the pattern is well formed
	for _, file := range files {
		if name := strings.TrimPrefix(filepath.Base(file), memoryPrefix); !slices.Contains([]string{cursor, before}, name) {
			_ = os.Remove(file) // tried again by the next run
		}
	}
	return cursor, nil
}
