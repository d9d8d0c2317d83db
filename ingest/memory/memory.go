// Package memory keeps what a run of a source remembers for the next one, in
// files in the source's working directory. A file's name is part of the run's
// cursor: an interrupted run leaves the memory of the previous run in place,
// and a missing or damaged file means that everything is read again. It imports
// leaves of this module only.
package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"almanac/ingest/folder"
)

// maxSize is the maximum size of a file in bytes: a million items.
const maxSize = 256 << 20

// Files are the memory files of one connector.
type Files struct {
	Dir    string // of the source
	Prefix string // of the file names
}

// Settings returns a digest of the values that determine how a source is read.
func Settings(values ...any) string {
	raw, err := json.Marshal(values)
	if err != nil {
		panic("memory: settings must be plain data: " + err.Error())
	}
	return Digest(raw)[:16]
}

// Digest returns the digest of data as 32 hexadecimal digits.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// inline is the size in bytes up to which a state is its own place.
const inline = 4 << 10

// Put stores a state and returns its place: a small one's is its JSON, another's
// the name of a file. The file of the place before is kept, because the new place
// may never be stored; all others are removed.
func (f Files) Put(state any, before string) (place string, err error) {
	raw, err := json.Marshal(state)
	switch place = Digest(raw); {
	case err == nil && len(raw) <= inline:
		return string(raw), nil
	case err == nil && place == before && f.intact(place) != nil:
		return place, nil
	case err == nil:
		err = f.write(place, raw)
	}
	if err != nil {
		return "", fmt.Errorf("remember what was seen: %w", err)
	}
	old, _ := filepath.Glob(filepath.Join(f.Dir, f.Prefix+"*")) // the pattern is valid
	for _, file := range old {
		if !slices.Contains([]string{place, before}, strings.TrimPrefix(filepath.Base(file), f.Prefix)) {
			_ = os.Remove(file) // the next run tries again
		}
	}
	return place, nil
}

// Get reads the state at a place and reports whether it is there and intact. It
// may modify the state even if not.
func (f Files) Get(place string, state any) bool {
	raw := f.intact(place)
	if raw == nil {
		raw = []byte(place)
	}
	return json.Unmarshal(raw, state) == nil
}

var named = regexp.MustCompile(`^[0-9a-f]{32}$`)

// intact returns the content of the file at a place; nil if there is none, or not all
// of it.
func (f Files) intact(place string) []byte {
	if !named.MatchString(place) {
		return nil
	}
	raw, err := folder.ReadFile(filepath.Join(f.Dir, f.Prefix+place), maxSize)
	if err != nil || Digest(raw) != place {
		return nil
	}
	return raw
}

// write writes a file as a whole or not at all.
func (f Files) write(name string, data []byte) (err error) {
	file, err := os.CreateTemp(f.Dir, f.Prefix+"*.tmp")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(f.Dir, f.Prefix+name))
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// marked is the size in bytes from which an item is remembered. A mark costs
// several times as much as reading a small item, and what a small one can take is
// bounded by its size.
const marked = 64 << 10

// ErrHeld: a run had the item in hand when its process ended.
var ErrHeld = errors.New("a run ended while it was read; " +
	"it is read again when it changes, or by another version of almanac")

// Hand remembers on disk the item that a run is reading, so that an item that kills
// the process kills one run, and not every one. An item is its content: a mark is
// an empty file with the digest of it and of the program as its name, which is
// removed when the item is done. The file need not survive the machine, whose
// end is no item's fault. A nil Hand remembers nothing.
type Hand struct {
	dir     string
	program string

	mu     sync.Mutex // guards the fields below: an interruption closes the hand
	mark   string     // file of the item in hand; "" = none
	closed bool
	held   bool
}

// NewHand makes the hand of a run. dir is made when it is needed; "" remembers
// nothing. Another program reads again what a former one could not.
func NewHand(dir, program string) *Hand { return &Hand{dir: dir, program: program} }

// Take takes an item in hand, in place of the one before. It is called before the
// item is parsed. ErrHeld means that the item must be skipped. A mark that cannot
// be written is not the item's fault.
func (h *Hand) Take(content []byte) error {
	if h == nil {
		return nil
	}
	h.Empty()
	if h.dir == "" || len(content) < marked {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	mark := filepath.Join(h.dir, h.name(content))
	if _, err := os.Lstat(mark); err == nil {
		h.held = true
		return ErrHeld
	}
	if h.closed || os.MkdirAll(h.dir, 0o700) != nil || os.WriteFile(mark, nil, 0o600) != nil {
		return nil
	}
	h.mark = mark
	return nil
}

func (h *Hand) name(content []byte) string {
	sum := sha256.New()
	_, _ = io.WriteString(sum, h.program+"\x00") // writing to a hash cannot fail
	_, _ = sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// Empty puts the item in hand away: it is done.
func (h *Hand) Empty() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mark != "" {
		_ = os.Remove(h.mark) // if it stays, the item is skipped, with its reason
		h.mark = ""
	}
}

// Close empties the hand for good: the run ends, and whatever comes is not the
// fault of an item.
func (h *Hand) Close() {
	h.Empty()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
}

// Held reports whether an item was not taken because a former run ended with it.
func (h *Hand) Held() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held
}
