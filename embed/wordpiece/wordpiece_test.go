package wordpiece_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"almanac/embed/wordpiece"

	"pgregory.net/rapid"
)

var tokenizer = wordpiece.New()

func tokens(text string) []int32 { return tokenizer.Append(nil, text) }

func TestTheVocabularyHasTheNamedTokens(t *testing.T) {
	entries := strings.Split(strings.TrimSuffix(wordpiece.Vocabulary, "\n"), "\n")
	if len(entries) != wordpiece.Size || entries[wordpiece.First] != "[CLS]" || entries[wordpiece.Last] != "[SEP]" {
		t.Errorf("%d entries, %s first and %s last", len(entries), entries[wordpiece.First], entries[wordpiece.Last])
	}
}

func TestOddTextsTokenizeAsTheReferenceDoes(t *testing.T) {
	var golden []struct {
		Text string
		IDs  []int32
	}
	raw, err := os.ReadFile("testdata/odd.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	for _, g := range golden {
		if ids := tokens(g.Text); !slices.Equal(ids, g.IDs) {
			t.Errorf("%q has tokens %v, want %v", g.Text, ids, g.IDs)
		}
	}
}

// anyText draws text of every kind: plain, marked, wide, broken.
func anyText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(
			rapid.String(),
			rapid.StringMatching(`[A-Za-z0-9_.#-]{1,12}`),
			rapid.SampledFrom([]string{" ", "\n", "\u3000", "\u2028", "e\u0301", "각", "漢字", "ﬁ", "İ", "\u200b", "😀",
				"[UNK]", "##s"}),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }),
			rapid.Map(rapid.IntRange(95, 205), func(n int) string { return strings.Repeat("é", n) }),
		), 0, 8).Draw(t, "parts")
		return strings.Join(parts, "")
	})
}

func TestTokenizerProperties(t *testing.T) {
	entries := strings.Split(wordpiece.Vocabulary, "\n")
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyText().Draw(t, "a"), anyText().Draw(t, "b")
		ids := tokens(a)
		for _, id := range ids {
			if id < 0 || int(id) >= len(entries)-1 {
				t.Fatalf("token %d is not an entry", id)
			}
		}
		if joined := tokens(a + " " + b); !slices.Equal(joined, append(slices.Clone(ids), tokens(b)...)) {
			t.Fatalf("a space does not divide: %v", joined)
		}
		if valid := strings.ToValidUTF8(a, "\ufffd"); !slices.Equal(tokens(valid), ids) {
			t.Fatalf("broken bytes are not dropped: %v", tokens(valid))
		}
		// What is not [UNK] spells tokens that stay as they are.
		var spelled strings.Builder
		for _, id := range ids {
			if piece, inside := strings.CutPrefix(entries[id], "##"); inside {
				spelled.WriteString(piece)
			} else {
				spelled.WriteString(" " + entries[id])
			}
		}
		if !slices.Contains(ids, 100) && !slices.Equal(tokens(spelled.String()), ids) {
			t.Fatalf("%q is spelled %q, which has other tokens", a, spelled.String())
		}
	})
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"", "Hello, World", "e\u0301\u0323", "\xff\xc3(", "각漢", strings.Repeat("x", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids := tokens(text)
		if n := utf8.RuneCountInString(text); len(ids) > 4*n {
			t.Errorf("%d tokens from %d characters", len(ids), n)
		}
		if !slices.Equal(ids, tokens(text)) {
			t.Error("tokens differ between two calls")
		}
	})
}

func TestIsWord(t *testing.T) {
	for word, want := range map[string]bool{"internet": true, "radio": true, "validatr": false, "##ing": false,
		"ing": true, "": false, "Radio": false} {
		if got := wordpiece.IsWord(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}
