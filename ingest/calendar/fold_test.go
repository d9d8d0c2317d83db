package calendar

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var lineEnd = regexp.MustCompile(`\r\n|\r|\n`)

// TestFoldsAreJoinedAndLinesKeepTheirNumbers: a line that begins with a blank goes on
// with the line above it, and every line is where it was.
func TestFoldsAreJoinedAndLinesKeepTheirNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.SampledFrom([]byte("AB: \t\r\n"))).Draw(t, "text"))
		want, last := map[int]string{}, -1
		for i, line := range lineEnd.Split(text, -1) {
			if last >= 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
				want[last] += line[1:]
			} else {
				want[i], last = line, i
			}
		}
		for i, line := range strings.Split(straighten([]byte(text), "text/calendar; charset=utf-8"), "\n") {
			if line != want[i] {
				t.Fatalf("%q: line %d is %q, want %q", text, i+1, line, want[i])
			}
		}
	})
}

// TestFoldsOfUTF16 are between any two characters.
func TestFoldsOfUTF16(t *testing.T) {
	const folded = "\ufeffSUMMARY:Tide\r\n  lamps\r\nUID:1\r\n"
	var data []byte
	for _, r := range folded {
		data = append(data, byte(r), byte(r>>8))
	}
	want := []string{"SUMMARY:Tide lamps", "", "UID:1", ""}
	got := strings.Split(strings.TrimPrefix(straighten(data, "text/calendar"), "\ufeff"), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
