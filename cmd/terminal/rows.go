package terminal

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

const (
	width  = 80 // of a terminal, at least
	gap    = 2  // between columns
	narrow = 30 // what a last column needs to stand beside the others
	indent = 4  // of one that stands below its row
	broad  = 30 // a column, where rows are wider than a terminal: a broader cell has its line to itself
)

// Rows prints rows in columns. On a terminal a cell goes on below itself where its line would be wider than 80 columns.
// A command, between ` and ` or alone in its row, stays one line, so that it can be copied.
func Rows(w io.Writer, rows [][]string) error {
	if Is(w) {
		_, err := io.WriteString(w, layOut(rows))
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 4, gap, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	return tw.Flush()
}

func layOut(rows [][]string) string {
	widths := columns(rows, math.MaxInt)
	if slices.ContainsFunc(rows, func(row []string) bool {
		last := len(row) - 1
		return start(widths, last)+visible(row[last]) > width
	}) {
		widths = columns(rows, broad)
	}
	var b strings.Builder
	for _, row := range rows {
		last := len(row) - 1
		if last > 0 && strings.Join(row[:last], "") == "" { // a command
			b.WriteString(strings.Repeat(" ", start(widths, last)) + row[last] + "\n")
			continue
		}
		for i, cell := range row[:last] {
			b.WriteString(wrapped(cell, start(widths, i)))
			if n := widths[i] + gap - visible(cell); n >= gap {
				b.WriteString(strings.Repeat(" ", n))
			} else {
				b.WriteString("\n" + strings.Repeat(" ", start(widths, i+1)))
			}
		}
		b.WriteString(wrapped(row[last], start(widths, last)))
		b.WriteByte('\n')
	}
	return b.String()
}

// columns returns how wide each column but the last is, by the cells up to a width.
func columns(rows [][]string, most int) (widths []int) {
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if n := visible(cell); n <= most {
				widths[i] = max(widths[i], n)
			}
		}
	}
	return widths
}

// start returns where a column begins.
func start(widths []int, column int) (at int) {
	for _, n := range widths[:column] {
		at += n + gap
	}
	return at
}

// Wrapped returns a text that begins in a column of a line, as Rows would print it there.
func Wrapped(w io.Writer, text string, at int) string {
	if !Is(w) {
		return text
	}
	return wrapped(text, at)
}

// wrapped is a text that begins in a column and goes on below it.
func wrapped(text string, at int) string {
	if at+visible(text) <= width {
		return text
	}
	var b strings.Builder
	below := func() { b.WriteString("\n" + strings.Repeat(" ", at)) }
	if at > width-narrow {
		at = indent
		below()
	}
	column := at
	for i, word := range words(text) {
		if n := visible(word); i > 0 && column+1+n > width {
			below()
			column = at + n
		} else {
			if i > 0 {
				b.WriteByte(' ')
				column++
			}
			column += n
		}
		b.WriteString(word)
	}
	return b.String()
}

// words cuts a text at spaces, but not within a command.
func words(text string) []string {
	command := false
	return strings.FieldsFunc(text, func(r rune) bool {
		if r == '`' {
			command = !command
		}
		return r == ' ' && !command
	})
}

var styles = regexp.MustCompile("\x1b\\[[0-9;]*m")

// visible is how many columns a text takes.
func visible(text string) int { return utf8.RuneCountInString(styles.ReplaceAllString(text, "")) }
