package retrieval_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"almanac/embed"
	"almanac/retrieval"
	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

// refusing engines stand in for servers that are down.
type refusingVector struct{ vector.Index }

var errRefused = errors.New("connection refused")

func (refusingVector) Search(context.Context, []float32, passage.Filter, int) ([]vector.Hit, error) {
	return nil, errRefused
}

func (refusingVector) Scores(context.Context, []float32, []passage.ID) ([]float32, error) {
	return nil, errRefused
}

type refusingEmbedder struct{ embed.Embedder }

func (e refusingEmbedder) Embed(ctx context.Context, texts []string, p embed.Purpose) ([][]float32, error) {
	if p == embed.Query {
		return nil, errRefused
	}
	return e.Embedder.Embed(ctx, texts, p)
}

// hangingKeyword stands in for a server that does not answer. Whoever searches it
// waits by the clock of a bubble.
type hangingKeyword struct {
	keyword.Engine
	asked chan struct{}
}

func (h hangingKeyword) Search(ctx context.Context, _ keyword.Query, _ passage.Filter, _ int) ([]keyword.Hit, error) {
	h.asked <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestDegradesToWhatIsLeft(t *testing.T) {
	for _, tt := range []struct {
		name string
		opt  option
		want string
	}{
		{"the vector engine refuses", func(f *fixture) { f.engines.Vector = refusingVector{f.engines.Vector} },
			"vector"},
		{"the embedder refuses", func(f *fixture) { f.engines.Embedder = refusingEmbedder{f.engines.Embedder} },
			"vector"},
		{"the keyword engine hangs", func(f *fixture) {
			f.engines.Keyword = hangingKeyword{f.engines.Keyword, make(chan struct{}, 100)}
		}, "keyword"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t, t.TempDir(), tt.opt)
				f.put(t, library()...)
				res := f.search(t, retrieval.Request{Query: "traffic fees are burned", Facets: []string{"kind"}})
				if !slices.Equal(res.Degraded, []string{tt.want}) {
					t.Errorf("degraded %v, want %s", res.Degraded, tt.want)
				}
				if len(res.Results) == 0 || res.Results[0].Title != "Traffic fees" {
					t.Errorf("results %q", titles(res))
				}
			})
		})
	}
}

// TestNothingAnswers: engines in the process fail only when they are late, and
// then the corpus is not searched besides.
func TestNothingAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, t.TempDir(), func(f *fixture) {
			f.engines.Vector = refusingVector{f.engines.Vector}
			f.engines.Keyword = hangingKeyword{f.engines.Keyword, make(chan struct{}, 100)}
		})
		f.put(t, library()...)
		_, err := f.engine.Search(t.Context(), retrieval.Request{Query: "fees"})
		if !errors.Is(err, retrieval.ErrUnavailable) || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("%v, want ErrUnavailable with its reasons", err)
		}
	})
}

// TestServerIsLeftAlone holds that only the first searches wait for a server
// that hangs, and that the status says so.
func TestServerIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := make(chan struct{}, 100)
		f := open(t, t.TempDir(), func(f *fixture) {
			f.engines.Keyword, f.engines.KeywordServer = hangingKeyword{f.engines.Keyword, asked}, true
		})
		f.put(t, library()...)
		if down := f.engine.Status(t.Context()).Down; len(down) > 0 {
			t.Errorf("down before anything failed: %v", down)
		}
		for n := range 8 {
			begun := time.Now()
			if res := f.search(t, retrieval.Request{Query: "traffic fees"}); !slices.Equal(res.Degraded,
				[]string{"keyword"}) || len(res.Results) == 0 {
				t.Errorf("degraded %v, results %q", res.Degraded, titles(res))
			}
			// By the clock of the bubble, on which nothing takes time but waiting.
			if took := time.Since(begun); took > time.Minute || n >= 3 && took > 0 {
				t.Errorf("search %d waited %v; want a minute at most, and nothing after three", n+1, took)
			}
		}
		if n := len(asked); n > 6 { // two lists at once, in three searches
			t.Errorf("the server was called %d times in 8 searches", n)
		}
		down := f.engine.Status(t.Context()).Down
		if len(down) != 1 || down[0].Engine != "keyword" || !strings.Contains(down[0].Reason, "did not answer in time") {
			t.Errorf("down %v", down)
		}
	})
}

// sparseVector finds every passage by its terms that holds one of them.
type sparseVector struct {
	vector.Index
	terms map[analysis.TermID][]passage.ID
}

func (s sparseVector) Apply(ctx context.Context, b vector.Batch) error {
	for _, r := range b.Records {
		for i, p := range r.Terms {
			for f := range analysis.Field(analysis.NumFields) {
				for j := range p.Field(f).Len() {
					id := p.Field(f).ID(j)
					s.terms[id] = append(s.terms[id], passage.NewID(r.ID, i))
				}
			}
		}
	}
	return s.Index.Apply(ctx, b)
}

func (s sparseVector) SearchTerms(_ context.Context, terms []vector.Term, _ passage.Filter,
	k int) ([]vector.Hit, error) {
	var hits []vector.Hit
	for _, t := range terms {
		for _, id := range s.terms[t.ID] {
			hits = append(hits, vector.Hit{Passage: id, Score: float32(t.Weight)})
		}
	}
	return hits[:min(k, len(hits))], nil
}

// TestSparseListTakesPart checks that an engine with sparse vectors is called
// for them, and is enough while the keyword engine and the embedder are away.
func TestSparseListTakesPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, t.TempDir(), func(f *fixture) {
			f.engines.Vector = sparseVector{f.engines.Vector, map[analysis.TermID][]passage.ID{}}
			f.engines.Embedder = refusingEmbedder{f.engines.Embedder}
			f.engines.Keyword = hangingKeyword{f.engines.Keyword, make(chan struct{}, 100)}
		})
		f.put(t, library()...)
		res := f.search(t, retrieval.Request{Query: "traffic fees are burned", Explain: true})
		if len(res.Results) == 0 || res.Results[0].Title != "Traffic fees" {
			t.Fatalf("results %q", titles(res))
		}
		if lists := res.Results[0].Explanation.Fusion.Parts; len(lists) != 1 || lists[0].Name != "sparse" ||
			!strings.Contains(lists[0].Formula, "rank 1") {
			t.Errorf("found by %+v", lists)
		}
	})
}

// narrowVector finds the nearest passage alone, and says when it is asked for cosines.
type narrowVector struct {
	sparseVector
	asked func()
}

func (n narrowVector) Search(ctx context.Context, v []float32, f passage.Filter, _ int) ([]vector.Hit, error) {
	return n.sparseVector.Search(ctx, v, f, 1)
}

func (n narrowVector) Scores(ctx context.Context, v []float32, ids []passage.ID) ([]float32, error) {
	n.asked()
	return n.sparseVector.Scores(ctx, v, ids)
}

// waitingKeyword answers when something else has happened.
type waitingKeyword struct {
	keyword.Engine
	until chan struct{}
}

func (w waitingKeyword) Search(ctx context.Context, q keyword.Query, f passage.Filter, k int) ([]keyword.Hit, error) {
	select {
	case <-w.until:
		return w.Engine.Search(ctx, q, f, k)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// listeningKeyword keeps the terms that it is asked for.
type listeningKeyword struct {
	keyword.Engine
	terms *[]string
}

func (l listeningKeyword) Search(ctx context.Context, q keyword.Query, f passage.Filter, k int) ([]keyword.Hit, error) {
	*l.terms = nil
	for _, t := range q.Terms {
		*l.terms = append(*l.terms, t.Text)
	}
	return l.Engine.Search(ctx, q, f, k)
}

// TestEnginesAreAskedForWhatThereIs: a word that no document holds is the rarest,
// and would be all that an engine with few lists looks for.
func TestEnginesAreAskedForWhatThereIs(t *testing.T) {
	var terms []string
	f := open(t, t.TempDir(), func(f *fixture) { f.engines.Keyword = listeningKeyword{f.engines.Keyword, &terms} })
	f.put(t, library()...)
	f.search(t, retrieval.Request{Query: "traffic 123456789 fees", Profile: "passages"})
	if want := []string{"traffic", analysis.Stem("fees")}; !slices.Equal(terms, want) {
		t.Errorf("asked for %q, want %q", terms, want)
	}
}

// TestCosinesAreAskedForWhileTheKeywordEngineIsOut: and the results have the same
// cosines as those of an engine in the program.
func TestCosinesAreAskedForWhileTheKeywordEngineIsOut(t *testing.T) {
	asked := make(chan struct{})
	f := open(t, t.TempDir(), func(f *fixture) {
		f.engines.Vector = narrowVector{sparseVector{f.engines.Vector, map[analysis.TermID][]passage.ID{}},
			sync.OnceFunc(func() { close(asked) })}
		f.engines.VectorServer = true
		f.engines.Keyword = waitingKeyword{f.engines.Keyword, asked}
	})
	plain := open(t, t.TempDir())
	for _, g := range []*fixture{f, plain} {
		g.put(t, library()...)
	}
	r := retrieval.Request{Query: "keys of a wallet and traffic fees", Explain: true}
	got, want := f.search(t, r), plain.search(t, r)
	if len(got.Degraded) > 0 || len(got.Results) == 0 {
		t.Fatalf("degraded %v, results %q", got.Degraded, titles(got))
	}
	for i, x := range got.Results {
		at := slices.IndexFunc(want.Results, func(y retrieval.Result) bool { return y.Title == x.Title })
		if at < 0 {
			t.Errorf("%q is not among %q", x.Title, titles(want))
			continue
		}
		if a, b := cosineOf(x.Explanation.Score), cosineOf(want.Results[at].Explanation.Score); a != b || a == "" {
			t.Errorf("result %d, %q, has cosine %q, want %q", i, x.Title, a, b)
		}
	}
}

// cosineOf returns the cosine in the formula of the linear model's dense part.
func cosineOf(n retrieval.Node) string {
	if _, cosine, ok := strings.Cut(n.Formula, " of "); ok && n.Name == "dense" {
		return cosine
	}
	for _, part := range n.Parts {
		if cosine := cosineOf(part); cosine != "" {
			return cosine
		}
	}
	return ""
}

// reader is a cross-encoder that likes one word.
type reader struct {
	word  string
	texts *[]string
	err   error
}

func (r reader) Score(_ context.Context, _ string, texts []string) ([]float64, error) {
	*r.texts = texts
	scores := make([]float64, len(texts))
	for i, text := range texts {
		if strings.Contains(text, r.word) {
			scores[i] = 10
		}
	}
	return scores, r.err
}

func TestCrossEncoderReordersTheBest(t *testing.T) {
	var texts []string
	f := open(t, t.TempDir(), func(f *fixture) { f.cross = reader{"seven days", &texts, nil} })
	f.put(t, library()...)
	res := f.search(t, retrieval.Request{Query: "delegated vote"})
	if got := titles(res); len(got) < 2 || got[0] != "Voting windows" || len(res.Degraded) > 0 {
		t.Errorf("results %q, degraded %v", got, res.Degraded)
	}
	for i := 1; i < len(res.Results); i++ {
		if res.Results[i].Score > res.Results[i-1].Score {
			t.Error("scores rise down the list")
		}
	}
	if len(texts) != len(res.Results) || !strings.HasPrefix(texts[0], "Delegated voting\n") {
		t.Errorf("it read %q", texts)
	}
}

func TestCrossEncoderFails(t *testing.T) {
	var texts []string
	f := open(t, t.TempDir(), func(f *fixture) { f.cross = reader{"seven days", &texts, errRefused} })
	f.put(t, library()...)
	res := f.search(t, retrieval.Request{Query: "delegated vote"})
	if got := titles(res); len(got) < 2 || got[0] != "Delegated voting" ||
		!slices.Equal(res.Degraded, []string{"cross-encoder"}) {
		t.Errorf("results %q, degraded %v", got, res.Degraded)
	}
}

// refusingSparse takes changes and answers nothing.
type refusingSparse struct{ sparseVector }

func (refusingSparse) Search(context.Context, []float32, passage.Filter, int) ([]vector.Hit, error) {
	return nil, errRefused
}

func (refusingSparse) Scores(context.Context, []float32, []passage.ID) ([]float32, error) {
	return nil, errRefused
}

func (refusingSparse) SearchTerms(context.Context, []vector.Term, passage.Filter, int) ([]vector.Hit, error) {
	return nil, errRefused
}

// TestAReplacedListComesBack: whole documents are searched for while the engine
// whose list takes their place is down.
func TestAReplacedListComesBack(t *testing.T) {
	f := open(t, t.TempDir(), func(f *fixture) {
		f.engines.Vector = refusingSparse{sparseVector{f.engines.Vector, map[analysis.TermID][]passage.ID{}}}
		f.engines.VectorServer = true
	})
	f.put(t, library()...)
	lists := func() (names []string) {
		res := f.search(t, retrieval.Request{Query: "traffic fees", Explain: true})
		for _, l := range res.Results[0].Explanation.Fusion.Parts {
			names = append(names, l.Name)
		}
		return names
	}
	for i := range 4 {
		want := []string{"passages"}
		if i == 3 { // after three failures
			want = []string{"documents", "passages"}
		}
		if got := lists(); !slices.Equal(got, want) {
			t.Errorf("search %d used the lists %q, want %q", i+1, got, want)
		}
	}
}

// healingSparse refuses searches until it is well.
type healingSparse struct {
	sparseVector
	well *atomic.Bool
}

func (h healingSparse) Search(ctx context.Context, v []float32, f passage.Filter, k int) ([]vector.Hit, error) {
	if !h.well.Load() {
		return nil, errRefused
	}
	return h.sparseVector.Search(ctx, v, f, k)
}

func (h healingSparse) SearchTerms(
	ctx context.Context, terms []vector.Term, f passage.Filter, k int,
) ([]vector.Hit, error) {
	if !h.well.Load() {
		return nil, errRefused
	}
	return h.sparseVector.SearchTerms(ctx, terms, f, k)
}

// TestAListThatStandsInIsSaid: the search that tries an engine anew may have all of its
// answer, and yet is in another order than the next one.
func TestAListThatStandsInIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var well atomic.Bool
		f := open(t, t.TempDir(), func(f *fixture) {
			f.engines.Vector = healingSparse{sparseVector{f.engines.Vector, map[analysis.TermID][]passage.ID{}}, &well}
			f.engines.VectorServer = true
		})
		f.put(t, library()...)
		search := func() (lists, degraded []string) {
			res := f.search(t, retrieval.Request{Query: "traffic fees", Explain: true})
			for _, l := range res.Results[0].Explanation.Fusion.Parts {
				lists = append(lists, l.Name)
			}
			return lists, res.Degraded
		}
		for range 4 {
			search()
		}
		well.Store(true)
		time.Sleep(time.Minute) // by the clock of the bubble: it is not called for some seconds
		if lists, degraded := search(); !slices.Equal(lists, []string{"documents", "passages", "sparse", "dense"}) ||
			!slices.Equal(degraded, []string{"vector"}) {
			t.Errorf("the search that tries it anew used the lists %q and is degraded %q", lists, degraded)
		}
		if lists, degraded := search(); !slices.Equal(lists, []string{"passages", "sparse", "dense"}) ||
			len(degraded) > 0 {
			t.Errorf("the next one used the lists %q and is degraded %q", lists, degraded)
		}
	})
}

// TestCopiesAreNotReadTwice: a cross-encoder reads one of near-identical records.
func TestCopiesAreNotReadTwice(t *testing.T) {
	var texts []string
	f := open(t, t.TempDir(), func(f *fixture) { f.cross = reader{"backup", &texts, nil} })
	f.put(t, library()...)
	res := f.search(t, retrieval.Request{Query: "rotate keys vote fees"})
	read := 0
	for _, text := range texts {
		if strings.HasPrefix(text, "Key rotation\n") {
			read++
		}
	}
	if read != 1 || len(texts) != res.Total {
		t.Errorf("it read %d texts of %d results, the copied one %d times", len(texts), res.Total, read)
	}
}
