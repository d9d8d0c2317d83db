package corpus_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
)

// TestFrequenciesAreThoseOfTheTerms looks up the terms of documents of many
// sizes, and others that they lack.
func TestFrequenciesAreThoseOfTheTerms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 2, 3, 10, 100, 3000} {
		want := map[analysis.TermID][analysis.NumFields]uint16{}
		var fields [analysis.NumFields][]analysis.Token
		for i := range size {
			term, f := fmt.Sprint("word", r.IntN(size)), r.IntN(int(analysis.NumFields))
			fields[f] = append(fields[f], analysis.Token{Term: term, Position: i})
			tf := want[analysis.IDOf(term)]
			tf[f]++
			want[analysis.IDOf(term)] = tf
		}
		terms, err := analysis.View(analysis.Pack(fields))
		if err != nil {
			t.Fatal(err)
		}
		d := corpus.NewDocument(catalog.Record{ID: 1}, []analysis.Packed{terms})
		for id, tf := range want {
			if got := d.Frequencies(id); got != tf {
				t.Errorf("of %d: frequencies %v, want %v", size, got, tf)
			}
		}
		for _, id := range []analysis.TermID{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1, analysis.TermID(r.Uint32())} {
			if got := d.Frequencies(id); got != want[id] {
				t.Errorf("of %d: %d has frequencies %v", size, id, got)
			}
		}
	}
}
