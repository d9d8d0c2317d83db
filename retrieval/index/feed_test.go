package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/embed"
	"almanac/retrieval/keyword"
	"almanac/retrieval/vector"
)

// slowKeyword is a keyword engine that takes its time, and whose flushes may fail.
type slowKeyword struct {
	keyword.Engine
	pause   time.Duration
	failing atomic.Int64 // flushes that are still to fail
	batches atomic.Int64
	flushed atomic.Int64 // batches that it had when it was flushed last
}

func (e *slowKeyword) Apply(context.Context, keyword.Batch) error {
	time.Sleep(e.pause)
	e.batches.Add(1)
	return nil
}

func (e *slowKeyword) Flush(context.Context) error {
	if e.failing.Add(-1) >= 0 {
		return errors.New("no space left on device")
	}
	e.flushed.Store(e.batches.Load())
	return nil
}

func (e *slowKeyword) Checkpoint(context.Context) (int64, error) { return 0, nil }

// heldVectors keeps the vectors it gets.
type heldVectors struct {
	vector.Index
	checkpoint atomic.Int64
	vectors    map[int64][][]float32
}

func (x *heldVectors) Apply(_ context.Context, b vector.Batch) error {
	for _, r := range b.Records {
		x.vectors[r.ID] = r.Vectors
	}
	x.checkpoint.Store(b.Checkpoint)
	return nil
}

func (x *heldVectors) Checkpoint(context.Context) (int64, error) { return x.checkpoint.Load(), nil }
func (x *heldVectors) Flush(context.Context) error               { return nil }

// poisoned is a model that refuses every text with one word.
type poisoned struct {
	word  string
	texts atomic.Int64 // embedded
}

func (e *poisoned) Embed(_ context.Context, texts []string, _ embed.Purpose) ([][]float32, error) {
	var out [][]float32
	for _, text := range texts {
		if strings.Contains(text, e.word) {
			return nil, fmt.Errorf("NaN: %w", embed.ErrRefused)
		}
		out = append(out, []float32{1, 0})
	}
	e.texts.Add(int64(len(texts)))
	return out, nil
}
func (e *poisoned) Dimensions() int { return 2 }
func (e *poisoned) Model() string   { return "poisoned" }

// fixture returns a loaded follower over a catalog of records with these bodies.
func fixture(t *testing.T, cfg Config, bodies ...string) *Follower {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	cfg.Store = store
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	write(t, store, bodies...)
	if cfg.Generation, err = store.OpenGeneration(t.Context(), "g"); err != nil {
		t.Fatal(err)
	}
	f := New(cfg)
	if err := f.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// write puts a record for each body, with its number as key.
func write(t *testing.T, store *sqlstore.Store, bodies ...string) {
	t.Helper()
	b := catalog.Batch{Source: "site"}
	for i, body := range bodies {
		b.Entries = append(b.Entries, catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: fmt.Sprint(i),
			Title: "page", Body: body, Data: []byte("{}")}})
	}
	if _, err := store.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// run runs the follower until the test ends.
func run(t *testing.T, f *Follower) {
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-done
	})
}

// TestALongFeedIsFlushedBetweenBatches takes many batches in one go.
func TestALongFeedIsFlushedBetweenBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &slowKeyword{pause: 20 * time.Second}
		bodies := make([]string, 20*batchRecords)
		for i := range bodies {
			bodies[i] = "rotate"
		}
		f := fixture(t, Config{Engines: Engines{Keyword: engine}}, bodies...)
		if _, err := f.follow(t.Context(), f.local); err != nil {
			t.Fatal(err)
		}
		if n, all := engine.flushed.Load(), engine.batches.Load(); n < all-1 { // of the last 30 seconds
			t.Errorf("of %d batches %d are durable when all are taken", all, n)
		}
	})
}

func TestAFailedFlushIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &slowKeyword{}
		engine.failing.Store(2)
		f := fixture(t, Config{Engines: Engines{Keyword: engine}}, "rotate")
		run(t, f)
		for _, want := range []int64{0, 0, 1} {
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if n := engine.flushed.Load(); n != want {
				t.Errorf("%d batches are durable, want %d", n, want)
			}
		}
	})
}

// TestARefusedTextHoldsUpNothing has a record of which the model refuses a
// passage, among others.
func TestARefusedTextHoldsUpNothing(t *testing.T) {
	var section strings.Builder
	for i := range 180 {
		fmt.Fprintf(&section, "word%d ", i)
	}
	words := section.String()
	long := "# One\n\n" + words + "\n\n# Two\n\n" + words + "poison\n\n# Three\n\n" + words
	bodies := []string{"rotate keys", long, "traffic fees"}
	for range 2 * batchServed {
		bodies = append(bodies, "burn and mint")
	}
	vectors := &heldVectors{vectors: map[int64][][]float32{}}
	model := &poisoned{word: "poison"}
	f := fixture(t, Config{Engines: Engines{Vector: vectors, Embedder: model, EmbedderServer: true}}, bodies...)
	for range 2 {
		if _, err := f.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.MarkReady()
	h := f.Health()[0]
	if h.Lag != 0 || !h.Complete || h.Err != nil || h.Refused != 1 {
		t.Errorf("the vector engine's health is %+v", h)
	}
	zero, all := 0, 0
	for _, record := range vectors.vectors {
		for _, v := range record {
			all++
			if v[0] == 0 {
				zero++
			}
		}
	}
	if len(vectors.vectors) != len(bodies) || zero != 1 || all < len(bodies)+2 {
		t.Errorf("%d records have %d vectors, of which %d are zero", len(vectors.vectors), all, zero)
	}
}

// TestAServerThatFailsIsNotTakenForARefusal: nothing is given up for it.
func TestAServerThatFailsIsNotTakenForARefusal(t *testing.T) {
	vectors := &heldVectors{vectors: map[int64][][]float32{}}
	f := fixture(t, Config{Engines: Engines{Vector: vectors, Embedder: away{}, EmbedderServer: true}}, "rotate")
	if _, err := f.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if h := f.Health()[0]; h.Err == nil || h.Refused != 0 || h.Lag != 1 || len(vectors.vectors) != 0 {
		t.Errorf("health %+v with %d records", h, len(vectors.vectors))
	}
}

type away struct{ embed.Embedder }

func (away) Embed(context.Context, []string, embed.Purpose) ([][]float32, error) {
	return nil, embed.ErrUnavailable
}

// TestAReaderKeepsOnlyTextsThatAreNotStored follows the log beside the process
// that stores them.
func TestAReaderKeepsOnlyTextsThatAreNotStored(t *testing.T) {
	writer := fixture(t, Config{}, "rotate", "burn", "mint")
	cfg := writer.cfg
	cfg.ReadOnly = true
	reader := New(cfg)
	if err := reader.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	follow := func(f *Follower) {
		t.Helper()
		if _, err := f.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	follow(reader)
	if n := len(reader.texts); n != 3 {
		t.Errorf("%d texts are kept before they are stored", n)
	}
	follow(writer)
	follow(reader)
	if n := len(reader.texts); n != 0 {
		t.Errorf("%d texts are kept after they were stored", n)
	}
	write(t, cfg.Store, "rotate twice")
	follow(reader)
	list, _, err := cfg.Store.List(t.Context(), catalog.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	b := catalog.Batch{Source: "site"}
	for _, r := range list {
		b.Delete = append(b.Delete, r.ID)
	}
	if _, err := cfg.Store.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	follow(reader)
	if n := len(reader.texts); n != 0 {
		t.Errorf("%d texts of deleted records are kept", n)
	}
}
