package retrieval_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/embed"
	"almanac/retrieval"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// refusingKeyword takes changes and answers nothing.
type refusingKeyword struct{ keyword.Engine }

func (refusingKeyword) Search(context.Context, keyword.Query, passage.Filter, int) ([]keyword.Hit, error) {
	return nil, errRefused
}

// serversAway has both engines on servers that refuse searches.
func serversAway(f *fixture) {
	f.engines.Keyword, f.engines.KeywordServer = refusingKeyword{f.engines.Keyword}, true
	f.engines.Vector, f.engines.VectorServer = refusingVector{f.engines.Vector}, true
}

// TestTheCorpusAnswers: without both servers words are found in memory, with
// filters, operators, corrections and the passage that has them.
func TestTheCorpusAnswers(t *testing.T) {
	f := open(t, t.TempDir(), serversAway)
	f.put(t, library()...)
	holdPromises(t, f)
	res := f.search(t, retrieval.Request{Query: "port closed connection refused", Explain: true})
	if !slices.Equal(res.Degraded, []string{"keyword", "vector"}) {
		t.Errorf("degraded %v", res.Degraded)
	}
	if r := res.Results[0]; !strings.Contains(r.Snippet, "connection refused") ||
		r.Explanation.Fusion.Parts[0].Name != "corpus" || res.Timings["retrieve/corpus"] <= 0 {
		t.Errorf("snippet %q, found by %+v, timings %v", r.Snippet, r.Explanation.Fusion.Parts, res.Timings)
	}
	for _, q := range []string{"xylophone zebra", `"refused connection"`, "wallet -participant"} {
		if res := f.search(t, retrieval.Request{Query: q}); len(res.Results) > 0 {
			t.Errorf("%s finds %q", q, titles(res))
		}
	}
	fees := f.search(t, retrieval.Request{Query: "burned"}).Results[0].Record
	if _, err := f.store.Apply(t.Context(), catalog.Batch{Source: "site", Delete: []int64{fees}}); err != nil {
		t.Fatal(err)
	}
	f.index(t)
	if res := f.search(t, retrieval.Request{Query: "burned"}); len(res.Results) > 0 {
		t.Errorf("a deleted record is found: %q", titles(res))
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := f.engine.Search(gone, retrieval.Request{Query: "fees"}); !errors.Is(err, context.Canceled) {
		t.Errorf("for a client that left: %v", err)
	}
}

// TestTheCorpusIsLeftAlone while an engine answers that holds everything.
func TestTheCorpusIsLeftAlone(t *testing.T) {
	for name, opt := range map[string]option{
		"both answer": func(f *fixture) { f.engines.KeywordServer, f.engines.VectorServer = true, true },
		"one answers": func(f *fixture) {
			f.engines.Keyword, f.engines.KeywordServer = refusingKeyword{f.engines.Keyword}, true
			f.engines.VectorServer = true
		},
	} {
		f := open(t, t.TempDir(), opt)
		f.put(t, library()...)
		res := f.search(t, retrieval.Request{Query: "traffic fees"})
		if _, scanned := res.Timings["retrieve/corpus"]; scanned || len(res.Results) == 0 {
			t.Errorf("%s: timings %v, results %q", name, res.Timings, titles(res))
		}
	}
}

// silentEmbedder embeds queries and no passages.
type silentEmbedder struct{ embed.Embedder }

func (e silentEmbedder) Embed(ctx context.Context, texts []string, p embed.Purpose) ([][]float32, error) {
	if p != embed.Query {
		return nil, errRefused
	}
	return e.Embedder.Embed(ctx, texts, p)
}

// TestTheCorpusStandsInForAnEngineThatIsFilled: one that answers, but does not
// hold everything, is not enough.
func TestTheCorpusStandsInForAnEngineThatIsFilled(t *testing.T) {
	f := open(t, t.TempDir(), func(f *fixture) {
		f.engines.Keyword, f.engines.KeywordServer = refusingKeyword{f.engines.Keyword}, true
		f.engines.Embedder, f.engines.EmbedderServer = silentEmbedder{f.engines.Embedder}, true
	})
	f.put(t, library()...)
	res := f.search(t, retrieval.Request{Query: "traffic fees"})
	if len(res.Results) == 0 || res.Results[0].Title != "Traffic fees" ||
		!slices.Equal(res.Degraded, []string{"keyword", "vector"}) {
		t.Errorf("results %q, degraded %v", titles(res), res.Degraded)
	}
}
