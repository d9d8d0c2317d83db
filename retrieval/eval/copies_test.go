package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/eval"
)

// prose returns n words that differ from those of other seeds.
func prose(seed, n int) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprintf("w%dx%d", seed, i*i%977))
	}
	return strings.Join(words, " ")
}

// TestCopies: a file of one record is another's copy if they say the same; one
// of several only if each of them has a copy in the other.
func TestCopies(t *testing.T) {
	var documents []*corpus.Document
	names := map[int64]string{}
	for name, texts := range map[string][]string{
		"tides.md": {prose(1, 300)}, "copy/tides.md": {prose(1, 300) + " more"}, "currents.md": {prose(2, 300)},
		"both.md": {prose(1, 300), prose(2, 300)}, "copy/both.md": {prose(2, 300), prose(1, 300)},
	} {
		for _, text := range texts {
			id := int64(1_000_000 + len(documents))
			names[id] = name
			terms, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{
				analysis.Body: analysis.Analyze(text)}))
			if err != nil {
				t.Fatal(err)
			}
			documents = append(documents, corpus.NewDocument(catalog.Record{ID: id, Kind: catalog.KindDoc, Path: name},
				[]analysis.Packed{terms}))
		}
	}
	same, err := eval.Copies(t.Context(), names, corpus.New(documents...), .9)
	if err != nil {
		t.Fatal(err)
	}
	for pair, want := range map[[2]string]bool{
		{"tides.md", "copy/tides.md"}: true, {"both.md", "copy/both.md"}: true, {"tides.md", "currents.md"}: false,
		{"tides.md", "both.md"}: false, {"both.md", "currents.md"}: false, {"tides.md", "gone.md"}: false,
	} {
		if same(pair[0], pair[1]) != want || same(pair[1], pair[0]) != want {
			t.Errorf("%s: %v, want %v", pair, !want, want)
		}
	}
}

// TestRunMeasuresWithoutCopies: a search that hides b, a copy of a, and one that
// shows it have the same measures; those of the collection count as well.
func TestRunMeasuresWithoutCopies(t *testing.T) {
	c, names, s := small()
	c.Queries = c.Queries[:1]
	measure := func(results ...int64) eval.Measures {
		s.results["one"] = results
		r, err := eval.Run(t.Context(), s, c, eval.Options{Names: names,
			Same: func(a, b string) bool { return a+b == "ab" || a+b == "ba" }})
		if err != nil {
			t.Fatal(err)
		}
		return r.Measures
	}
	if shown, hidden := measure(1, 2, 3), measure(1, 3); shown != hidden || shown.NDCG10 != 1 {
		t.Errorf("shown %+v, hidden %+v, want the ideal twice", shown, hidden)
	}
	c.Judgments["q1"]["c"] = 2
	if got := measure(1, 2); near(got.NDCG10, 1, 1e-9) {
		t.Errorf("without c: %+v", got)
	}
	c.Clusters = map[string]string{"a": "7", "c": "7"}
	if got := measure(1, 2); got.NDCG10 != 1 {
		t.Errorf("c is a copy of a by the collection: %+v, want 1", got)
	}
}
