package retrieval

import (
	"testing"

	"pgregory.net/rapid"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/query"
)

// continues reports whether a phrase whose first term is at a position goes on
// there: each term at the next position or, if it is another, at the same.
func continues(tokens []analysis.Token, position int, phrase []query.Term) bool {
	if len(phrase) == 1 {
		return true
	}
	for _, t := range tokens {
		step := t.Position - position
		if t.Term == phrase[1].Text && (step == 1 || step == 0 && phrase[1].Text != phrase[0].Text) &&
			continues(tokens, t.Position, phrase[1:]) {
			return true
		}
	}
	return false
}

// TestPhrasesAreFoundWhereTheyAre compares with a search that looks everywhere.
func TestPhrasesAreFoundWhereTheyAre(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	rapid.Check(t, func(t *rapid.T) {
		var passages []analysis.Packed
		var fields [][]analysis.Token
		for range rapid.IntRange(1, 3).Draw(t, "passages") {
			var tokens []analysis.Token
			position := 0
			for range rapid.IntRange(0, 40).Draw(t, "length") {
				position += rapid.SampledFrom([]int{0, 1, 1, 1}).Draw(t, "step")
				tokens = append(tokens, analysis.Token{Term: words.Draw(t, "word"), Position: position})
			}
			packed, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{analysis.Body: tokens}))
			if err != nil {
				t.Fatal(err)
			}
			passages, fields = append(passages, packed), append(fields, tokens)
		}
		d := corpus.NewDocument(catalog.Record{ID: 1}, passages)
		var terms []query.Term
		for _, w := range rapid.SliceOfN(words, 1, 6).Draw(t, "phrase") {
			terms = append(terms, query.Term{Text: w, ID: analysis.IDOf(w)})
		}
		want := false
		for _, tokens := range fields {
			for _, k := range tokens {
				want = want || k.Term == terms[0].Text && continues(tokens, k.Position, terms)
			}
		}
		p := newPhrase(terms)
		if got := p.in(d); got != want {
			t.Fatalf("found %v, want %v", got, want)
		}
	})
}
