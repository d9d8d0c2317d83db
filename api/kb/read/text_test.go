package read_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"almanac/api/kb/arg"
	"almanac/api/kb/read"
)

func TestCutsJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.StringN(1, 40, -1).Draw(t, "unit")
		text := strings.Repeat(unit, rapid.IntRange(0, 8_000).Draw(t, "times"))
		var whole strings.Builder
		for cursor := arg.Cursor(""); ; {
			page, err := read.Cut(text, cursor)
			if err != nil {
				t.Fatal(err)
			}
			if n := utf8.RuneCountInString(page.Content); n > 50_000 ||
				page.Truncated != (n == 50_000 && page.NextCursor != "") {
				t.Fatalf("%d characters, truncated %v, next %q", n, page.Truncated, page.NextCursor)
			}
			whole.WriteString(page.Content)
			if cursor = arg.Cursor(page.NextCursor); cursor == "" {
				break
			}
		}
		if whole.String() != text {
			t.Error("the parts are not the text")
		}
	})
}

// TestShortenedCutsJoin holds that a part that was shortened ends where the next
// begins, and never is nothing.
func TestShortenedCutsJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.StringOfN(rapid.SampledFrom([]rune("ab \n\"é港みハ한🚀")), 1, 40, -1).Draw(t, "unit")
		text := strings.Repeat(unit, rapid.IntRange(1, 4_000).Draw(t, "times"))
		less := rapid.IntRange(1, 30_000).Draw(t, "tokens")
		var whole strings.Builder
		for cursor, pages := arg.Cursor(""), 0; pages == 0 || cursor != ""; pages++ {
			page, err := read.Cut(text, cursor)
			if err != nil {
				t.Fatal(err)
			}
			if pages < 20 {
				page.Shorten(less)
			}
			if page.Content == "" || page.Truncated != (page.NextCursor != "") {
				t.Fatalf("%q, truncated %v, next %q", page.Content, page.Truncated, page.NextCursor)
			}
			whole.WriteString(page.Content)
			cursor = arg.Cursor(page.NextCursor)
		}
		if whole.String() != text {
			t.Error("the parts are not the text")
		}
	})
}
