package index_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/embed/static"
	"almanac/retrieval/index"
	"almanac/retrieval/keyword"
	keywordembedded "almanac/retrieval/keyword/embedded"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
	vectorembedded "almanac/retrieval/vector/embedded"
	"almanac/testing/catalogfile"
	"almanac/testing/wait"
)

var errAway = errors.New("the server is away")

// keywordServer stands in for a keyword engine on a server that can be away and
// can lose what it had.
type keywordServer struct {
	engine   atomic.Pointer[keywordembedded.Engine]
	away     atomic.Bool
	promoted atomic.Int64
}

func newKeywordServer(t *testing.T) *keywordServer {
	s := &keywordServer{}
	s.lose(t)
	return s
}

// lose makes it empty.
func (s *keywordServer) lose(t *testing.T) {
	engine, err := keywordembedded.Open(keywordembedded.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s.engine.Store(engine)
}

func (s *keywordServer) err() error {
	if s.away.Load() {
		return errAway
	}
	return nil
}

func (s *keywordServer) Apply(ctx context.Context, b keyword.Batch) error {
	if err := s.err(); err != nil {
		return err
	}
	return s.engine.Load().Apply(ctx, b)
}

func (s *keywordServer) Search(ctx context.Context, q keyword.Query, f passage.Filter, k int) ([]keyword.Hit, error) {
	if err := s.err(); err != nil {
		return nil, err
	}
	return s.engine.Load().Search(ctx, q, f, k)
}

func (s *keywordServer) Checkpoint(ctx context.Context) (int64, error) {
	if err := s.err(); err != nil {
		return 0, err
	}
	return s.engine.Load().Checkpoint(ctx)
}

func (s *keywordServer) Promote(context.Context) error { s.promoted.Add(1); return s.err() }
func (s *keywordServer) Flush(context.Context) error   { return nil }
func (s *keywordServer) Close() error                  { return nil }

// slowVectors stands in for a vector engine that is fed by a slow model.
type slowVectors struct {
	vector.Index
	open chan struct{} // closed when it may work
}

func (s slowVectors) Apply(ctx context.Context, b vector.Batch) error {
	select {
	case <-s.open:
		return s.Index.Apply(ctx, b)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fixture is a catalog with a follower that runs.
type fixture struct {
	store    *sqlstore.Store
	read     atomic.Int64 // how often passages were read
	keyword  *keywordServer
	vectors  slowVectors
	follower *index.Follower
}

func start(t *testing.T) *fixture {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	f := &fixture{keyword: newKeywordServer(t)}
	store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
	must(err)
	f.store = catalogfile.Around(store, func(op string, do func() error) error {
		if op == "passages" {
			f.read.Add(1)
		}
		return do()
	})
	model, err := static.New()
	must(err)
	log := slog.New(slog.DiscardHandler)
	vectors, err := vectorembedded.Open(vectorembedded.Config{Dimensions: model.Dimensions(), Model: model.Model(),
		Log: log})
	must(err)
	f.vectors = slowVectors{vectors, make(chan struct{})}
	generation, err := f.store.OpenGeneration(ctx, index.Fingerprint(model.Model()))
	must(err)
	f.follower = index.New(index.Config{Store: f.store, Generation: generation, Poll: 10 * time.Millisecond, Log: log,
		Engines: index.Engines{Keyword: f.keyword, KeywordServer: true, Vector: f.vectors, VectorServer: true,
			Embedder: model}})
	must(f.follower.Load(ctx))
	done := make(chan error)
	go func() { done <- f.follower.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		f.store.Close()
	})
	return f
}

func (f *fixture) put(t *testing.T, key, body string) (seq int64) {
	t.Helper()
	_, err := f.store.Apply(t.Context(),
		catalog.Batch{Source: "site", Entries: []catalog.Entry{{Record: catalog.Record{Kind: catalog.KindDoc, Key: key,
			Title: key, Body: body, Data: []byte("{}")}}}})
	if err == nil {
		seq, err = f.store.LastChange(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return seq
}

// health returns that of an engine.
func (f *fixture) health(name string) index.Health {
	for _, h := range f.follower.Health() {
		if h.Name == name {
			return h
		}
	}
	return index.Health{}
}

func (f *fixture) found(t *testing.T, word string) int {
	t.Helper()
	hits, err := f.keyword.Search(t.Context(), keyword.Query{Unit: keyword.Documents,
		Terms: []keyword.Term{{Text: word, Weight: 1}}}, passage.Filter{}, 10)
	if err != nil {
		t.Fatal(err)
	}
	return len(hits)
}

func TestSlowEngineHoldsUpNothing(t *testing.T) {
	f := start(t)
	seq := f.put(t, "keys", "rotate")
	if err := f.follower.Wait(t.Context(), seq); err != nil {
		t.Fatal(err)
	}
	f.follower.MarkReady()
	if h := f.health("keyword"); !h.Complete || h.Err != nil {
		t.Errorf("the keyword engine has everything: %+v", h)
	}
	if f.found(t, "rotat") != 1 {
		t.Error("what is in the table is not in the keyword engine")
	}
	if h := f.health("vector"); h.Complete || h.Lag == 0 {
		t.Errorf("vectors that wait for their model: %+v", h)
	}
	close(f.vectors.open)
	if err := f.follower.WaitAll(t.Context(), seq); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the vectors are complete", func() bool { return f.health("vector").Complete })
}

func TestEngineThatComesBackEmptyIsFilledAnew(t *testing.T) {
	f := start(t)
	close(f.vectors.open)
	seq := f.put(t, "keys", "rotate")
	if err := f.follower.WaitAll(t.Context(), seq); err != nil {
		t.Fatal(err)
	}
	f.keyword.away.Store(true)
	f.put(t, "fees", "burn")
	wait.Until(t, "the failure is known", func() bool { return f.health("keyword").Err != nil })
	f.keyword.lose(t)
	f.keyword.away.Store(false)
	wait.Until(t, "the engine was filled again", func() bool {
		return f.health("keyword").Err == nil && f.found(t, "rotat") == 1 && f.found(t, "burn") == 1
	})
}

func TestPromotesOnceComplete(t *testing.T) {
	f := start(t)
	close(f.vectors.open)
	seq := f.put(t, "keys", "rotate")
	if err := f.follower.WaitAll(t.Context(), seq); err != nil {
		t.Fatal(err)
	}
	if n := f.keyword.promoted.Load(); n > 0 {
		t.Fatalf("promoted %d times before it was requested", n)
	}
	f.follower.Promote()
	wait.Until(t, "it was promoted", func() bool { return f.keyword.promoted.Load() == 1 })
	if err := f.follower.WaitAll(t.Context(), f.put(t, "fees", "burn")); err != nil {
		t.Fatal(err)
	}
	if n := f.keyword.promoted.Load(); n != 1 {
		t.Errorf("promoted %d times", n)
	}
}

// TestTextsAreReadOnceAChange: a text is read from the catalog once, and again when its record has changed.
func TestTextsAreReadOnceAChange(t *testing.T) {
	f := start(t)
	var ids []passage.ID
	for i, x := range []struct {
		key, body string
		read      int64
	}{{"keys", "rotate", 1}, {"keys", "rotate, but slowly", 2}, {"fees", "burn", 3}} {
		if err := f.follower.Wait(t.Context(), f.put(t, x.key, x.body)); err != nil {
			t.Fatal(err)
		}
		r, err := f.store.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: x.key})
		if err != nil {
			t.Fatal(err)
		}
		if id := passage.NewID(r.ID, 0); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		for range 2 {
			texts, err := f.follower.Texts(t.Context(), ids)
			if err != nil || texts[len(texts)-1].Text != x.body {
				t.Errorf("change %d: %+v %v, want %q", i, texts, err, x.body)
			}
		}
		if n := f.read.Load(); n != x.read {
			t.Errorf("change %d: passages were read %d times, want %d", i, n, x.read)
		}
	}
	missing := passage.NewID(ids[0].Record(), 7)
	if texts, err := f.follower.Texts(t.Context(), []passage.ID{missing, ids[0]}); err != nil ||
		texts[0].ID != 0 || texts[1].Text != "rotate, but slowly" {
		t.Errorf("with a missing one: %+v %v", texts, err)
	}
}
