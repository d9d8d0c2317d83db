package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table is a table to print; the first row is its header.
type table [][]string

// add appends a row of cells.
func (t *table) add(cells ...string) { *t = append(*t, cells) }

// printTables prints tables one below the other, as aligned columns or as
// Markdown. Tables without a row below the header are left out.
func printTables(w io.Writer, markdown bool, tables ...table) error {
	first := true
	for _, t := range tables {
		if len(t) < 2 {
			continue
		}
		if !first {
			fmt.Fprintln(w)
		}
		first = false
		if err := t.print(w, markdown); err != nil {
			return err
		}
	}
	return nil
}

func (t table) print(w io.Writer, markdown bool) error {
	if markdown {
		for i, row := range t {
			fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
			if i == 0 {
				fmt.Fprintln(w, "|"+strings.Repeat("---|", len(row)))
			}
		}
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for i, row := range t {
		line := strings.Join(row, "\t")
		if i == 0 {
			line = strings.ToUpper(line)
		}
		fmt.Fprintln(tw, line)
	}
	return tw.Flush()
}

func four(x float64) string { return fmt.Sprintf("%.4f", x) }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
