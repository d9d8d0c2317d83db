package terminal

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"almanac/retrieval/eval"
)

// Tables prints tables as aligned columns or as Markdown. Tables with only
// a header are left out.
func Tables(w io.Writer, markdown bool, tables ...eval.Table) error {
	first := true
	for _, t := range tables {
		if len(t) < 2 {
			continue
		}
		if !first {
			fmt.Fprintln(w)
		}
		first = false
		if err := printTable(w, t, markdown); err != nil {
			return err
		}
	}
	return nil
}

func printTable(w io.Writer, t eval.Table, markdown bool) error {
	if markdown {
		for i, row := range t {
			fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
			if i == 0 {
				fmt.Fprintln(w, "|"+strings.Repeat("---|", len(row)))
			}
		}
		return nil
	}
	parts := [][][]string{t}
	if Is(w) {
		parts = folded(t)
	}
	for i, part := range parts {
		if i > 0 {
			fmt.Fprintln(w)
		}
		head := make([]string, len(part[0]))
		for j, cell := range part[0] {
			head[j] = strings.ToUpper(cell)
		}
		if err := Rows(w, append([][]string{head}, part[1:]...)); err != nil {
			return err
		}
	}
	return nil
}

// folded cuts a table of numbers that is wider than a terminal into several, each with the columns that say what its rows
// are: those before the first of numbers.
func folded(t eval.Table) (parts [][][]string) {
	widths, names := make([]int, len(t[0])), 0
	for j := range t[0] {
		for _, row := range t {
			widths[j] = max(widths[j], visible(row[j])+gap)
		}
		if names == j && !numbers(t, j) {
			names++
		}
	}
	if !numbers(t, len(t[0])-1) {
		return [][][]string{t} // its last column goes on below
	}
	named := 0
	for _, n := range widths[:names] {
		named += n
	}
	for from := names; from < len(widths); {
		to, at := from, named-gap
		for to < len(widths) && (to == from || at+widths[to] <= width) {
			at += widths[to]
			to++
		}
		var part [][]string
		for _, row := range t {
			part = append(part, slices.Concat(row[:names], row[from:to]))
		}
		parts, from = append(parts, part), to
	}
	return parts
}

// numbers reports whether all of a column is numbers.
func numbers(t eval.Table, column int) bool {
	return !slices.ContainsFunc(t[1:], func(row []string) bool {
		_, err := strconv.ParseFloat(row[column], 64)
		return err != nil && row[column] != ""
	})
}

// OneLine returns a text without line breaks.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
