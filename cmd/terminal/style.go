package terminal

import (
	"io"
	"os"
)

// Is reports whether what is written to w is shown on a terminal.
func Is(w io.Writer) bool {
	if wrapped, ok := w.(interface{ Unwrap() io.Writer }); ok {
		w = wrapped.Unwrap()
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // is a device of characters too
	return err != nil || !os.SameFile(info, null)
}

// Style colours texts; the zero value leaves them as they are.
type Style struct{ coloured bool }

// StyleOf returns the style for w: coloured on a terminal, unless NO_COLOR is set
// (no-color.org) or the terminal is dumb.
func StyleOf(w io.Writer, noColor, term string) Style {
	return Style{Is(w) && noColor == "" && term != "dumb"}
}

// paint wraps a text in a style of ECMA-48 (select graphic rendition).
func (s Style) paint(style, text string) string {
	if text == "" || !s.coloured {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// Bold returns a text in bold.
func (s Style) Bold(text string) string { return s.paint("1", text) }

// Dim returns a text in faint.
func (s Style) Dim(text string) string { return s.paint("2", text) }

// Red returns a text in red.
func (s Style) Red(text string) string { return s.paint("31", text) }

// Green returns a text in green.
func (s Style) Green(text string) string { return s.paint("32", text) }
