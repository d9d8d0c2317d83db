package index_test

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/retrieval/index"
	"almanac/retrieval/keyword"
	keywordembedded "almanac/retrieval/keyword/embedded"
)

// openStore opens an empty catalog.
func openStore(t *testing.T) catalog.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// put writes records, each with its key and one body.
func put(t *testing.T, store catalog.Store, body string, keys ...string) {
	t.Helper()
	b := catalog.Batch{Source: "site"}
	for _, key := range keys {
		b.Entries = append(b.Entries, catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: key, Title: key,
			Body: body, Data: []byte("{}")}})
	}
	if _, err := store.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// remove removes records.
func remove(t *testing.T, store catalog.Store, keys ...string) {
	t.Helper()
	b := catalog.Batch{Source: "site"}
	for _, key := range keys {
		r, err := store.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		b.Delete = append(b.Delete, r.ID)
	}
	if _, err := store.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// load returns a loaded follower of the catalog's one generation.
func load(t *testing.T, store catalog.Store, e index.Engines) *index.Follower {
	t.Helper()
	generation, err := store.OpenGeneration(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	f := index.New(index.Config{Store: store, Generation: generation, Engines: e, Log: slog.New(slog.DiscardHandler)})
	if err := f.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

func catchUp(t *testing.T, f *index.Follower) {
	t.Helper()
	if _, err := f.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func numbered(n int) (keys []string) {
	for i := range n {
		keys = append(keys, fmt.Sprintf("page-%04d", i))
	}
	return keys
}

// TestLagIsANumberOfChanges writes one record many times: that is one change.
func TestLagIsANumberOfChanges(t *testing.T) {
	store := openStore(t)
	put(t, store, "rotate", "keys")
	f := load(t, store, index.Engines{})
	catchUp(t, f)
	for i := range 50 {
		put(t, store, fmt.Sprint("price ", i), "market")
	}
	f = load(t, store, index.Engines{})
	if lag, progress := f.Lag(); lag != 1 || progress != 0 {
		t.Errorf("behind by %d changes, %.2f done, want 1 and 0", lag, progress)
	}
	catchUp(t, f)
	if lag, progress := f.Lag(); lag != 0 || progress != 1 {
		t.Errorf("behind by %d changes, %.2f done, want 0 and 1", lag, progress)
	}
}

// TestPicturesAreNotSearched: files with a text are, whatever they are, and what becomes a
// picture is no longer.
func TestPicturesAreNotSearched(t *testing.T) {
	store := openStore(t)
	f := load(t, store, index.Engines{})
	b := catalog.Batch{Source: "site"}
	file := func(key, role, body string) {
		b.Entries = append(b.Entries, catalog.Entry{Record: catalog.Record{Kind: catalog.KindAttachment, Key: key,
			Title: key, Category: role, Body: body, Data: []byte("{}")}})
	}
	file("harbour.png", catalog.AttachmentFigure, "")
	file("harbour.svg", catalog.AttachmentFigure, "the pier")
	file("ballot.pdf", "vote_record", "")
	apply := func(want int) {
		t.Helper()
		if _, err := store.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		catchUp(t, f)
		if n, _ := f.Corpus().Size(); n != want {
			t.Errorf("%d of %d files are searched, want %d", n, len(b.Entries), want)
		}
	}
	apply(2)
	b.Entries[1].Record.Body = ""
	apply(1)
	if lag, _ := f.Lag(); lag != 0 {
		t.Errorf("%d changes are to come", lag)
	}
}

func TestWordsThatNoDocumentHoldsAreDropped(t *testing.T) {
	store := openStore(t)
	put(t, store, "a beacon and a lantern", "one")
	put(t, store, "a beacon", "two")
	catchUp(t, load(t, store, index.Engines{}))
	remove(t, store, "one")
	f := load(t, store, index.Engines{})
	catchUp(t, f)
	generation, err := store.OpenGeneration(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	load(t, store, index.Engines{})
	words, err := store.Words(t.Context(), generation.ID)
	if err != nil || slices.Contains(words, "lantern") || !slices.Contains(words, "beacon") {
		t.Errorf("the words are %q, %v", words, err)
	}
}

// TestAnEngineIsNeverAheadOfTheCatalog also holds when the log has grown past
// what the engine has seen.
func TestAnEngineIsNeverAheadOfTheCatalog(t *testing.T) {
	store := openStore(t)
	put(t, store, "rotate", numbered(20)...)
	generation, err := store.OpenGeneration(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := keywordembedded.Open(keywordembedded.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Apply(t.Context(), keyword.Batch{Checkpoint: 7}); err != nil {
		t.Fatal(err)
	}
	f := index.New(index.Config{Store: store, Generation: generation, Engines: index.Engines{Keyword: engine},
		Log: slog.New(slog.DiscardHandler)})
	if err := f.Load(t.Context()); !errors.Is(err, index.ErrAhead) {
		t.Errorf("an engine at 7 with nothing indexed: %v", err)
	}
}
