package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
)

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
