package progress

import (
	"io"
	"sync"
)

// Screen is a terminal on which bars are drawn. What else is written to it begins at
// the beginning of a line, in place of a bar, which is drawn again when it moves.
type Screen struct {
	mu    sync.Mutex // guards all below
	w     io.Writer
	drawn bool // the cursor is behind a bar
}

// eraseLine goes to the beginning of the line and erases it (ECMA-48, EL).
const eraseLine = "\r\x1b[2K"

// NewScreen returns the screen of a terminal.
func NewScreen(w io.Writer) *Screen { return &Screen{w: w} }

// Unwrap returns the terminal.
func (s *Screen) Unwrap() io.Writer { return s.w }

// Write implements io.Writer.
func (s *Screen) Write(p []byte) (int, error) { return s.write(p, false) }

func (s *Screen) write(p []byte, bar bool) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drawn && !bar {
		if _, err := io.WriteString(s.w, eraseLine); err != nil {
			return 0, err
		}
	}
	s.drawn = bar
	return s.w.Write(p)
}

// drawing is what bars write to.
type drawing struct{ *Screen }

func (d drawing) Write(p []byte) (int, error) { return d.write(p, true) }
