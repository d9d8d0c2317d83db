package prose_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"almanac/text/prose"
)

func TestTextsAreCutBetweenCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, n := rapid.String().Draw(t, "text"), rapid.IntRange(0, 100).Draw(t, "n")
		got := prose.FirstBytes(text, n)
		if len(got) > n || !strings.HasPrefix(text, got) || !utf8.ValidString(got) ||
			len(text) > n && n-len(got) >= utf8.UTFMax {
			t.Fatalf("%q cut to %d bytes: %q", text, n, got)
		}
		if got, want := prose.First(text, n), []rune(text); got != string(want[:min(n, len(want))]) {
			t.Fatalf("%q cut to %d characters: %q", text, n, got)
		}
	})
}
