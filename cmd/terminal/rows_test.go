package terminal

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"almanac/retrieval/eval"
)

// TestRowsFitATerminal: what is too wide goes on below, and commands stay whole.
func TestRowsFitATerminal(t *testing.T) {
	long := strings.Repeat("tide ", 30)
	for name, rows := range map[string][][]string{
		"beside":  {{"ok", "catalog", long}, {"hint", "", "run `almanac sync --network ./lights.yaml --data /srv/lights` " + long}},
		"below":   {{strings.Repeat("x", 40), strings.Repeat("y", 20), long}},
		"colours": {{Style{true}.Red("FAIL"), "source", long}, {Style{true}.Green("ok  "), "source", "short"}},
		"alone":   {{long}},
		"within":  {{"field", "before", "after"}, {"provenance", long, long}, {"version", "6", "7"}},
	} {
		out := layOut(rows)
		for line := range strings.Lines(out) {
			if visible(strings.TrimRight(line, "\n ")) > width {
				t.Errorf("%s: %q has %d columns", name, line, visible(line))
			}
		}
		var said []string
		for _, row := range rows {
			said = append(said, strings.Fields(strings.Join(row, " "))...)
		}
		if !slices.Equal(strings.Fields(out), said) {
			t.Errorf("%s: something is lost:\n%s", name, out)
		}
	}
	out := layOut([][]string{{"search", "One."}, {"", "almanac tools call search 'query=" + long + "'"}})
	if strings.Count(out, "\n") != 2 {
		t.Errorf("a command is cut:\n%s", out)
	}
	if out := layOut([][]string{{"hint", "run `almanac sync " + long + "`"}}); !strings.Contains(out, long) {
		t.Errorf("a command in a sentence is cut:\n%s", out)
	}
}

// TestTablesOfNumbersAreFolded: each part says what its rows are.
func TestTablesOfNumbersAreFolded(t *testing.T) {
	head, one, two := []string{"collection", "kind"}, []string{"lights", "all"}, []string{"", "question"}
	for i := range 14 {
		head, one, two = append(head, fmt.Sprintf("measure@%d", i)), append(one, fmt.Sprint(i)), append(two, "")
	}
	parts := folded(eval.Table{head, one, two})
	if len(parts) < 2 {
		t.Fatalf("%d parts", len(parts))
	}
	said := ""
	for _, part := range parts {
		out := layOut(part)
		for line := range strings.Lines(out) {
			if visible(strings.TrimRight(line, "\n ")) > width {
				t.Errorf("%q has %d columns", line, visible(line))
			}
		}
		if part[1][0] != "lights" || part[2][1] != "question" {
			t.Errorf("what are the rows of\n%s", out)
		}
		said += out
	}
	for _, measure := range head {
		if !strings.Contains(said, measure) {
			t.Errorf("%s is lost", measure)
		}
	}
	if parts := folded(eval.Table{{"job", "result"}, {"1", strings.Repeat("tide ", 30)}}); len(parts) != 1 {
		t.Errorf("a table that ends in sentences: %d parts", len(parts))
	}
}
