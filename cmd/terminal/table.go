package terminal

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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

// OneLine returns a text without line breaks.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
