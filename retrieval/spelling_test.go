package retrieval_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/embed"
	"almanac/retrieval"
)

var longWords = []string{strings.Repeat("abcd", 11), strings.Repeat("mnop", 11)}

// shelf is a library in which some words are well known.
func shelf() []catalog.Record {
	records := library()
	for i := range 12 {
		records = append(records,
			catalog.Record{Key: fmt.Sprintf("guide-%d", i), Title: fmt.Sprintf("Guide number %d", i),
				Body: fmt.Sprintf("Chapter %d of the wallets and the rotation of a key, by an operator at every "+
					"checkpoint.", i)},
			catalog.Record{Key: fmt.Sprintf("alphabet-%d", i), Title: "Alphabet", Body: strings.Join(longWords, " ")})
	}
	return records
}

func TestMisspeltWordsAreAlsoReadAsTheIndexKnowsThem(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, shelf()...)
	for _, tt := range []struct{ name, query, corrected string }{
		{"a letter wrong", "wallst chapter", "wallet chapter"},
		{"neighbours swapped", "rotatoin", "rotation"},
		{"two letters wrong in a long word", "chekcpiont", "checkpoint"},
		{"two in an ending", "oparators", "operators"},
		{"before a possessive", "chekcpiont's chapter", "checkpoint chapter"},
		{"two words for one", "wal let", "wallet"},
		{"the first of them again, alone", "wal let wal chapter", "wallet wal chapter"},
		{"the second half unknown", "chapter opera tor", "chapter operator"},
		{"one word for two", "keyrotation", "key rotation"},
		{"what the index knows", "wallets of an operator", ""},
		{"a word of English that is rare here", "charter", ""},
		{"a number", "guide 71234567", ""},
		{"an identifier", "guide wal_let", ""},
		{"a camelCase name", "walletKey", ""},
		{"a word unlike any other", "xylophone", ""},
		{"two edits in a short word", "wxyllet", ""},
		{"what is too long for a word", strings.Join(longWords, ""), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if res := f.search(t, retrieval.Request{Query: tt.query}); res.Corrected != tt.corrected {
				t.Errorf("%q was read as %q, want %q", tt.query, res.Corrected, tt.corrected)
			}
		})
	}
}

func TestWordsThatNoDocumentHasAreNamed(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, shelf()...)
	for _, tt := range []struct {
		name, query string
		plain       bool
		unknown     []string
	}{
		{"one beside a known word", "zorblatt wallet", false, []string{"zorblatt"}},
		{"each once, in the order typed", "quimby wallet Zorblatt quimby", false, []string{"quimby", "zorblatt"}},
		{"an identifier and a number", "getZorb wallet 71234567", false, []string{"getzorb", "71234567"}},
		{"half of a compound", "wallet-zorblatt", false, []string{"zorblatt"}},
		{"known words, in other forms", "wallets rotations", false, nil},
		{"a corrected word", "wallst chapter", false, nil},
		{"two words that are one", "wal let", false, nil},
		{"an alias", "vwx", false, nil},
		{"function words", "whom would the wallet", false, nil},
		{"pairs of characters", "鍵匣 wallet", false, nil},
		{"a text that nobody typed", "zorblatt wallet", true, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := f.search(t, retrieval.Request{Query: tt.query, Plain: tt.plain})
			if !slices.Equal(res.Unknown, tt.unknown) {
				t.Errorf("unknown of %q: %q, want %q", tt.query, res.Unknown, tt.unknown)
			}
		})
	}
}

// listener keeps what queries it embeds.
type listener struct {
	embed.Embedder
	asked []string
}

func (l *listener) Embed(ctx context.Context, texts []string, purpose embed.Purpose) ([][]float32, error) {
	if purpose == embed.Query {
		l.asked = append(l.asked, texts...)
	}
	return l.Embedder.Embed(ctx, texts, purpose)
}

func TestTheEmbedderReadsTheCorrectedQuery(t *testing.T) {
	var model *listener
	f := open(t, t.TempDir(), func(f *fixture) {
		model = &listener{Embedder: f.engines.Embedder}
		f.engines.Embedder = model
	})
	f.put(t, shelf()...)
	for _, query := range []string{"rotatoin of a Key", "rotation of a Key"} {
		f.search(t, retrieval.Request{Query: query})
	}
	if want := []string{"rotation of a Key", "rotation of a Key"}; !slices.Equal(model.asked, want) {
		t.Errorf("embedded %q, want %q", model.asked, want)
	}
}

func TestAliasesAreReadToo(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, library()...)
	for query, want := range map[string]string{"vwx": "Voting windows", "who pays for gasoline": "Traffic fees"} {
		if got := titles(f.search(t, retrieval.Request{Query: query})); len(got) == 0 || got[0] != want {
			t.Errorf("%q finds %q, want %q first", query, got, want)
		}
	}
	if got := titles(f.search(t, retrieval.Request{Query: "my_gasoline_flag"})); slices.Contains(got, "Traffic fees") {
		t.Errorf("a part of an identifier is read as its alias: %q", got)
	}
}
