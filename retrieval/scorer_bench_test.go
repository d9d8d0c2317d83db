package retrieval

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
)

// BenchmarkSignals scores 300 candidates of six passages, of which two were
// found, for a query of six words.
func BenchmarkSignals(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(r, 1.1, 4, 50_000)
	text := func(n int) []analysis.Token {
		var s strings.Builder
		for range n {
			fmt.Fprintf(&s, "w%d ", zipf.Uint64())
		}
		return words(s.String())
	}
	var all []*corpus.Document
	var ids []int64
	for id := range int64(300) {
		title := text(6)
		var passages []analysis.Packed
		for range 6 {
			terms, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{analysis.Title: title,
				analysis.Heading: text(4), analysis.Body: text(200), analysis.Path: text(3)}))
			if err != nil {
				b.Fatal(err)
			}
			passages = append(passages, terms)
		}
		ids = append(ids, id)
		all = append(all, corpus.NewDocument(catalog.Record{ID: id, Title: fmt.Sprint("title of ", id)}, passages))
	}
	c := corpus.New(all...)
	var documents []corpus.Document
	for b.Loop() {
		documents, _ = c.AppendDocuments(b.Context(), documents[:0], ids)
		candidates := make([]*candidate, len(ids))
		for i := range documents {
			candidates[i] = &candidate{Document: &documents[i], Passages: []int{1, 4}, Cosines: []float32{.3, .2}}
		}
		scorerOf(c, "w1 w9 w40 w200 w1000 w7", "").signals(candidates)
	}
}
