package read

import (
	"strconv"
	"strings"
	"testing"

	"almanac/api/op"
)

func TestLinesAreCountedFromOne(t *testing.T) {
	const body = "# Tides\n\nHigh at noon.\nLow at dusk.\n"
	for id, want := range map[string]string{
		"1000054:3":     "3\tHigh at noon.\n | 1000054:3-3 before 1000054:2-2 after 1000054:4-4 of 4",
		"1000054:1-2":   "1\t# Tides\n2\t\n | 1000054:1-2 before  after 1000054:3-4 of 4",
		"1000054:2-":    "2\t\n3\tHigh at noon.\n4\tLow at dusk.\n | 1000054:2-4 before 1000054:1-1 after  of 4",
		"1000054:4-900": "4\tLow at dusk.\n | 1000054:4-4 before 1000054:3-3 after  of 4",
		"1000054:5":     "there is no line 5: the text has 4",
		"1000054:4-2":   "id must have the first line before the last, as in 1000054:2-4",
	} {
		record, lines, ok := cutLines(id)
		from, to, valid := lineRange(lines)
		if !ok || !valid || record != "1000054" {
			t.Fatalf("%s is not read: %q %q", id, record, lines)
		}
		p, err := readLines(1000054, body, from, to)
		got := p.Content + " | " + p.Section + " before " + p.Before + " after " + p.After + " of " + strconv.Itoa(p.Lines)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	for _, id := range []string{"1000054", "1000054#setup", "guide/a.md", "1000054:0", "1000054:x", ":3", "1000054:3-4-5"} {
		if record, lines, ok := cutLines(id); ok && record == "1000054" {
			t.Errorf("%s reads the lines %s", id, lines)
		}
	}
}

// TestLinesInSeveralAnswersAreTheText follows the lines of a text that no answer holds,
// and the cursor of a line that none holds.
func TestLinesInSeveralAnswersAreTheText(t *testing.T) {
	long := strings.Repeat("tide \"港\" ", 12_000)
	body := strings.Repeat("A line of the \"log\".\n", 9_000) + long + "\nThe end."
	var whole strings.Builder
	answers := 0
	for id := "1000054:1-"; id != ""; answers++ {
		_, lines, _ := cutLines(id)
		from, to, _ := lineRange(lines)
		p, err := readLines(1000054, body, from, to)
		if err != nil || answers > 100 {
			t.Fatalf("%s: %v", id, err)
		}
		if raw, err := op.Encode(p); err != nil || op.Tokens(string(raw)) > op.MaxTokens {
			t.Fatalf("%s: %d bytes, %v", id, len(raw), err)
		}
		for i, row := range strings.SplitAfter(strings.TrimSuffix(p.Content, "\n"), "\n") {
			number, text, _ := strings.Cut(row, "\t")
			if number != strconv.Itoa(from+i) {
				t.Fatalf("%s: line %s at %d", id, number, from+i)
			}
			whole.WriteString(text)
		}
		if p.Truncated {
			rest, err := strconv.Atoi(p.NextCursor)
			if err != nil || !strings.HasPrefix(body[rest:], "tide") && !strings.Contains(long, body[rest:rest+6]) {
				t.Fatalf("%s goes on at %s", id, p.NextCursor)
			}
			whole.WriteString(body[rest : strings.Index(body[rest:], "\n")+rest])
		}
		whole.WriteString("\n")
		id = p.After
	}
	if got := strings.TrimSuffix(whole.String(), "\n"); got != body || answers < 4 {
		t.Errorf("%d answers have %d bytes of %d", answers, len(got), len(body))
	}
}

func FuzzLines(f *testing.F) {
	for _, id := range []string{"1000054:120-160", "a:1-", ":1", "a:999999999-999999999", "a:0", "é:1\n"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		record, lines, ok := cutLines(id)
		if record+lines != id {
			t.Errorf("%q is %q and %q", id, record, lines)
		}
		if from, _, valid := lineRange(lines); valid != ok || ok && from < 1 {
			t.Errorf("%q: from %d", lines, from)
		}
	})
}
