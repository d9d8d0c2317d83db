package markdown

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTextIsCutBetweenWords(t *testing.T) {
	for _, c := range []struct {
		text      string
		n         int
		cut, clip string
	}{
		{"", 5, "", ""}, {"short", 5, "short", "short"}, {"one two three", 10, "one two", "one two…"},
		{"one, two", 6, "one,", "one…"}, {"a longer-word-than-half", 12, "a longer-wor", "a longer-wo…"},
		{"éééééé", 4, "éééé", "ééé…"}, {"word", 0, "", "…"},
	} {
		if cut, clip := Cut(c.text, c.n), Clip(c.text, c.n); cut != c.cut || clip != c.clip {
			t.Errorf("%q to %d: %q and %q, want %q and %q", c.text, c.n, cut, clip, c.cut, c.clip)
		}
	}
}

func TestWords(t *testing.T) {
	if got := Words("Reef-2 the TOPSAIL, été!"); !slices.Equal(got, []string{"reef", "2", "the", "topsail", "été"}) {
		t.Errorf("%q", got)
	}
}

func TestInlineMarksAreStripped(t *testing.T) {
	for text, want := range map[string]string{
		"**Reef** the [top *sail*](x \"y\")\nearly ":                   "Reef the top sail early",
		"![chart](x.png) see[^1] <https://a.example> &amp; <b>`x`</b>": "see https://a.example & x",
		`a \*b\*<br/>c\`: "a *b* c", "a_b_c 2 * 3": "a_b_c 2 * 3", "see :ref:`the log <x>`": "see the log",
	} {
		if got := Inline(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzInline holds that plain text has one line, and that cutting keeps its word.
func FuzzInline(f *testing.F) {
	f.Add("**a** [b](c) `d` <e> &amp; \\*", 3)
	f.Add("x\ny\u00a0\u2028z", 0)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if got := Inline(text); strings.ContainsAny(got, "\n\t\r") || got != strings.TrimSpace(got) {
			t.Fatalf("%q became %q", text, got)
		}
		n = max(1, n&0xff)
		if cut := Cut(text, n); !strings.HasPrefix(text, cut) || utf8.RuneCountInString(cut) > n {
			t.Fatalf("%q cut to %d is %q", text, n, cut)
		}
		if clip := Clip(text, n); utf8.RuneCountInString(clip) > n {
			t.Fatalf("%q clipped to %d is %q", text, n, clip)
		}
	})
}
