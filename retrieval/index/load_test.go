package index

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"almanac/catalog"
)

// again returns another loaded follower of the same.
func again(t *testing.T, f *Follower) *Follower {
	t.Helper()
	next := New(f.cfg)
	if err := next.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return next
}

// TestLagIsANumberOfChanges writes one record many times: that is one change.
func TestLagIsANumberOfChanges(t *testing.T) {
	f := fixture(t, Config{}, "rotate")
	follow(t, f)
	for i := range 50 {
		write(t, f.cfg.Store, "rotate", fmt.Sprint("price ", i))
	}
	f = again(t, f)
	if lag, progress := f.Lag(); lag != 1 || progress != 0 {
		t.Errorf("behind by %d changes, %.2f done, want 1 and 0", lag, progress)
	}
	follow(t, f)
	if lag, progress := f.Lag(); lag != 0 || progress != 1 {
		t.Errorf("behind by %d changes, %.2f done, want 0 and 1", lag, progress)
	}
}

// TestPicturesAreNotSearched: files with a text are, whatever they are, and what becomes a
// picture is no longer.
func TestPicturesAreNotSearched(t *testing.T) {
	f := fixture(t, Config{})
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
		if _, err := f.cfg.Store.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		follow(t, f)
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
	f := fixture(t, Config{}, "a beacon and a lantern", "a beacon")
	follow(t, f)
	remove(t, f.cfg.Store, "0")
	f = again(t, f)
	follow(t, f)
	again(t, f)
	words, err := f.cfg.Store.Words(t.Context(), f.cfg.Generation.ID)
	if err != nil || slices.Contains(words, "lantern") || !slices.Contains(words, "beacon") {
		t.Errorf("the words are %q, %v", words, err)
	}
}

// TestAnEngineIsNeverAheadOfTheCatalog also holds when the log has grown past
// what the engine has seen.
func TestAnEngineIsNeverAheadOfTheCatalog(t *testing.T) {
	cfg := fixture(t, Config{}, slices.Repeat([]string{"rotate"}, 20)...).cfg
	cfg.Keyword = &anyKeyword{at: 7}
	if err := New(cfg).Load(t.Context()); !errors.Is(err, ErrAhead) {
		t.Errorf("an engine at 7 with nothing indexed: %v", err)
	}
}
