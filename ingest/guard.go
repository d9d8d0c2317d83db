package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"almanac/ingest/folder"
)

// guarded is the size in bytes from which content is remembered. That costs
// several times as much as reading small content, and what small content can take is
// bounded by its size.
const guarded = 64 << 10

// ErrKilled: an earlier run ended while it parsed the content.
var ErrKilled = errors.New("a run ended while it was read; " +
	"it is read again when it changes, or by another version of almanac")

// program is a digest of the program: what it was built from, with what.
var program = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return Digest(Edition, info)
})

// guard remembers on disk which content a run parses, so that content that kills the
// process kills one run, and not every one. Its file has a line with the digest of the
// program, and one with the digest of each content that a run was killed over or that
// the run parses now. The file need not survive the machine, whose end is no content's
// fault.
type guard struct {
	file   string
	killed []string

	mu     sync.Mutex // guards the fields below: an interruption closes the guard
	marked bool       // content is being parsed
	closed bool
}

// maxGuard is the most bytes of a guard's file.
const maxGuard = 1 << 20

// openGuard opens the guard of a source whose working directory is dir. Another
// program tries again what killed a former one: then again is true.
func openGuard(dir string) (g *guard, again bool) {
	g = &guard{file: filepath.Join(dir, "unfinished")}
	text, err := folder.ReadFile(g.file, maxGuard)
	if err != nil {
		return g, false
	}
	lines := strings.Fields(string(text))
	if len(lines) > 0 && lines[0] == program() {
		g.killed = lines[1:]
		return g, false
	}
	return g, os.Remove(g.file) == nil
}

// begin notes that content is parsed from now on, in place of the content before.
// Content that cannot be noted is parsed nevertheless.
func (g *guard) begin(content []byte) error {
	g.end()
	if len(content) < guarded {
		return nil
	}
	digest := digestOf(content)
	if slices.Contains(g.killed, digest) {
		return ErrKilled
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.marked = true
		g.write(digest)
	}
	return nil
}

// end notes that the content was parsed.
func (g *guard) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.marked {
		g.marked = false
		g.write()
	}
}

// close is end for good: the run ends, and whatever comes is not the fault of content.
func (g *guard) close() {
	g.end()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
}

// write writes the file. If it cannot be written, content that is well may be skipped,
// with its reason, or content that is not may be parsed.
func (g *guard) write(parsed ...string) {
	lines := slices.Concat([]string{program()}, g.killed, parsed)
	if len(lines) == 1 {
		_ = os.Remove(g.file)
		return
	}
	_ = os.WriteFile(g.file, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}
