package ranking_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
)

// searcher takes what is published, unless it refuses.
type searcher struct {
	mu     sync.Mutex
	has    retrieval.Relevance
	times  int
	refuse error
}

func (s *searcher) Publish(r retrieval.Relevance) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.times++; s.refuse == nil {
		s.has = r
	}
	return s.refuse
}

// publish saves and publishes.
func publish(t *testing.T, store *sqlstore.Store, kind catalog.RevisionKind, data string) {
	t.Helper()
	r, err := store.Revision(t.Context(), kind, "", 0)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		t.Fatal(err)
	}
	if r, err = store.SaveRevision(t.Context(), catalog.Revision{Kind: kind, Base: r.Number, Data: data}); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Publish(t.Context(), catalog.Publication{Kind: kind, Number: r.Number}, 0); err != nil {
		t.Fatal(err)
	}
}

// TestAFollowerPublishesWhatChanged and nothing else: what is configured the searcher has, and
// what has not changed it is not given again.
func TestAFollowerPublishesWhatChanged(t *testing.T) {
	s, _ := source(t)
	to := &searcher{}
	f := ranking.NewFollower(s, to, slog.New(slog.DiscardHandler))
	f.Look(t.Context())
	if to.times != 0 {
		t.Error("it publishes what is configured")
	}
	publish(t, s.Store, catalog.SynonymsRevision, "hsm: [security module]\n")
	f.Look(t.Context())
	f.Look(t.Context())
	if to.times != 1 || len(to.has.Aliases) != 2 {
		t.Errorf("after %d times it has %v", to.times, to.has.Aliases)
	}
	if _, err := s.Store.Publish(t.Context(), catalog.Publication{Kind: catalog.SynonymsRevision}, 0); err != nil {
		t.Fatal(err)
	}
	f.Look(t.Context())
	if len(to.has.Aliases) != 1 {
		t.Errorf("rolled back it has %v", to.has.Aliases)
	}
}

func TestAPinFollowsItsRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, id := source(t)
		to := &searcher{}
		f := ranking.NewFollower(s, to, slog.New(slog.DiscardHandler))
		publish(t, s.Store, catalog.PinsRevision, "- query: a\n  places: [{record: \"doc:a\", position: 1}]\n")
		pinned := func() []retrieval.Place {
			time.Sleep(time.Minute) // records are looked at every 30 seconds
			f.Look(t.Context())
			return to.has.Pins[0].Places
		}
		if places := pinned(); len(places) != 1 || places[0].ID != id {
			t.Fatalf("pinned is %v", places)
		}
		ref := catalog.Ref{Kind: catalog.KindDoc, Key: "a"}
		if _, err := s.Store.Apply(t.Context(), catalog.Batch{Source: "docs", Delete: []int64{id}}); err != nil {
			t.Fatal(err)
		}
		if places := pinned(); len(places) != 0 {
			t.Errorf("a record that is gone is pinned: %v", places)
		}
		_, err := s.Store.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: []catalog.Entry{
			{Record: catalog.Record{Kind: ref.Kind, Key: ref.Key, Title: "A"}}}})
		if err != nil {
			t.Fatal(err)
		}
		if places := pinned(); len(places) != 1 {
			t.Errorf("a record that came back is not pinned: %v", places)
		}
		before := to.times
		time.Sleep(time.Minute)
		f.Look(t.Context())
		if to.times != before {
			t.Error("it publishes although no record changed")
		}
	})
}

func TestWhatCannotBeUsedIsLoggedOnceAndTheFormerStays(t *testing.T) {
	s, _ := source(t)
	to := &searcher{}
	var log bytes.Buffer
	f := ranking.NewFollower(s, to, slog.New(slog.NewTextHandler(&log, nil)))
	publish(t, s.Store, catalog.SynonymsRevision, "hsm: [security module]\n")
	f.Look(t.Context())
	publish(t, s.Store, catalog.SynonymsRevision, "{")
	for range 3 {
		f.Look(t.Context())
	}
	if n := strings.Count(log.String(), "cannot be used"); n != 1 || len(to.has.Aliases) != 2 {
		t.Errorf("%d lines, %v in force: %s", n, to.has.Aliases, log.String())
	}
	to.refuse = errors.New("no such retriever")
	publish(t, s.Store, catalog.SynonymsRevision, "tx: [transaction]\n")
	for range 3 {
		f.Look(t.Context())
	}
	to.refuse = nil
	f.Look(t.Context())
	if n := strings.Count(log.String(), "cannot be used"); n != 2 || to.has.Aliases["tx"] == nil {
		t.Errorf("%d lines, %v in force: %s", n, to.has.Aliases, log.String())
	}
}

// TestAPublicationIsInForceEverywhereWithinFiveSeconds follows one catalog with three
// followers, as the servers on one database do, which began at different moments.
func TestAPublicationIsInForceEverywhereWithinFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := source(t)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		var all []*searcher
		for range 3 {
			to := &searcher{}
			all = append(all, to)
			running.Go(func() { ranking.NewFollower(s, to, slog.New(slog.DiscardHandler)).Run(ctx) })
			time.Sleep(300 * time.Millisecond)
		}
		for _, word := range []string{"tx", "hsm"} {
			publish(t, s.Store, catalog.SynonymsRevision, word+": [harbour]\n")
			time.Sleep(5 * time.Second)
			synctest.Wait()
			for i, to := range all {
				to.mu.Lock()
				if to.has.Aliases[word] == nil {
					t.Errorf("server %d has %v, not %s", i, to.has.Aliases, word)
				}
				to.mu.Unlock()
			}
		}
		cancel()
		running.Wait()
	})
}
