package meili

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"almanac/retrieval/analysis"
)

func TestSpelling(t *testing.T) {
	for term, want := range map[string]string{
		"":           "",
		"ledger":     "ledger",
		"cip-56":     "cipzm56",
		"0.5.9":      "0zp5zp9",
		"zenith":     "zzenith",
		"a_b/c:d":    "azubzsczcd",
		"zürich":     "zzzx00fcrich",
		"日本":         "zx65e5zx672c",
		"𠀋":          "zy02000b",
		"x~00ff":     "xzx007e00ff",
		"O'Neil":     "zx004fzx0027zx004eeil",
		"a b\tc\x00": "azx0020bzx0009czx0000",
	} {
		if got := spell(term); got != want {
			t.Errorf("%q: %q, want %q", term, got, want)
		}
	}
}

func TestSpellingsAreWordsAndUnique(t *testing.T) {
	terms := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9._/:z-]{0,12}`))
	rapid.Check(t, func(t *rapid.T) {
		a, b := strings.ToValidUTF8(terms.Draw(t, "a"), ""), strings.ToValidUTF8(terms.Draw(t, "b"), "")
		if rapid.Bool().Draw(t, "longer") {
			b = a + b
		}
		x, y := spell(a), spell(b)
		if i := strings.IndexFunc(x, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		}); i >= 0 {
			t.Fatalf("%q: %q is not a word", a, x)
		}
		if (a == b) != (x == y) || strings.HasPrefix(b, a) != strings.HasPrefix(y, x) {
			t.Fatalf("%q and %q: %q and %q", a, b, x, y)
		}
		if a != "" && strings.HasSuffix(x, outstandingSuffix) && len(x) == len(spell(strings.TrimSuffix(a, "q")))+1 &&
			!strings.HasSuffix(a, "zq") {
			t.Fatalf("%q: %q ends like a manifest", a, x)
		}
	})
}

func TestSpellingsOfTermsAreShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for _, token := range analysis.Analyze(rapid.String().Draw(t, "text")) {
			if s := spell(token.Term); len(s)+len(outstandingSuffix) > 250 {
				t.Fatalf("%q: %d bytes", token.Term, len(s))
			}
		}
	})
}
