package derive_test

import (
	"slices"
	"strings"
	"testing"

	"almanac/catalog/derive"
)

func TestCodeBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []derive.CodeBlock
	}{
		"none": {"Run `moor` twice.", nil},
		"with and without language": {"a\n```sh\nmoor --now\n```\nb\n~~~\nx\n~~~",
			[]derive.CodeBlock{{"sh", "moor --now"}, {"", "x"}}},
		"a longer fence":             {"````md\n```\nx\n```\n````", []derive.CodeBlock{{"md", "```\nx\n```"}}},
		"an open fence":              {"```ts title=\"a\"\nx = 1\n", []derive.CodeBlock{{"ts", "x = 1"}}},
		"an empty one":               {"```\n\n```\ntext", nil},
		"in a list, without indent":  {"1. do\n   ```\n   a\n     b\n   ```", []derive.CodeBlock{{"", "a\n  b"}}},
		"a span of three backticks":  {"``` x ``` is a span", nil},
		"blank lines around are cut": {"```\n\na\n\nb\n\n```", []derive.CodeBlock{{"", "a\n\nb"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := derive.CodeBlocks(c.text); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func FuzzCodeBlocks(f *testing.F) {
	for _, s := range []string{"```\nx\n```", "~~~~a b\n~~~\n~~~~", " ```", "```\r\nx", "> ```\n> x\n> ```", "`````"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, b := range derive.CodeBlocks(text) {
			if strings.TrimSpace(b.Code) == "" || len(b.Code) > len(text) {
				t.Errorf("block %q of %q", b.Code, text)
			}
		}
	})
}
