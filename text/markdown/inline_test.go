package markdown_test

import (
	"strings"
	"testing"

	"almanac/text/markdown"
)

func TestProseKeepsSpansOfCode(t *testing.T) {
	for text, want := range map[string]string{
		"run `a *b*` and **`c`**": "run `a *b*` and `c`",
		"\ue000 `a` \ue001":       "\ue000 `a` \ue001",
		"&#xE000; &#57344; `a`":   "\ue000 \ue000 `a`",
		"x\xff\U00100000 `a`":     "x\U00100000 `a`",
		"![`a`](b) `c`":           "`c`",
		strings.Repeat("`a` ", 3): "`a` `a` `a`",
	} {
		if got := markdown.Prose(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
