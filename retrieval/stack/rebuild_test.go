package stack

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/testing/catalogfile"
	"almanac/testing/wait"
)

// generations returns the ids of a catalog's generations.
func generations(t *testing.T, store *sqlstore.Store) (ids []int64) {
	t.Helper()
	all, err := store.Generations(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range all {
		ids = append(ids, g.ID)
	}
	return ids
}

// TestRebuild builds the index again while people search and a source writes:
// every search finds all that was there when it began.
func TestRebuild(t *testing.T) {
	cfg := newConfig(t, 40)
	k := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "it is ready", func() bool { return k.writing.Load() != nil })
	before := generations(t, cfg.Store)
	searching, end := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for searching.Err() == nil {
				res, err := k.Search(t.Context(), retrieval.Request{Query: "harbour beacon", Limit: 100})
				if err != nil || res.Total < 40 || len(res.Degraded) > 0 {
					t.Errorf("while it is built %d are found without %v, %v", res.Total, res.Degraded, err)
					return
				}
			}
		})
	}
	wg.Go(func() {
		for n := 40; n < 60; n++ {
			put(t, cfg.Store, n, n+1)
		}
	})
	var done, total int
	if err := k.Rebuild(t.Context(), func(d, n int) { done, total = d, n }); err != nil {
		t.Fatal(err)
	}
	end()
	wg.Wait()
	after := generations(t, cfg.Store)
	if len(after) != 1 || after[0] == before[0] || total < 40 || done != total {
		t.Errorf("generations were %v and are %v; progress %d of %d", before, after, done, total)
	}
	wait.Until(t, "it finds everything", func() bool { return found(t, k) == 60 })
	if err := k.Rebuild(t.Context(), func(int, int) {}); err != nil {
		t.Error("a second time:", err)
	}
	put(t, cfg.Store, 60, 61)
	wait.Until(t, "it finds what is new", func() bool { return found(t, k) == 61 })
}

func TestACancelledRebuildLeavesTheIndex(t *testing.T) {
	cfg := newConfig(t, 40)
	k := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "it is ready", func() bool { return k.writing.Load() != nil })
	before := generations(t, cfg.Store)
	ctx, cancel := context.WithCancel(t.Context())
	if err := k.Rebuild(ctx, func(int, int) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Fatalf("its end is %v", err)
	}
	if after := generations(t, cfg.Store); len(after) != 1 || after[0] != before[0] {
		t.Errorf("generations were %v and are %v", before, after)
	}
	put(t, cfg.Store, 40, 41)
	wait.Until(t, "the index goes on", func() bool { return found(t, k) == 41 })
	k.stop()
	again := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "the next start reads it", func() bool { return found(t, again) == 41 })
	if after := generations(t, cfg.Store); len(after) != 1 || after[0] != before[0] {
		t.Errorf("after a start generations are %v, were %v", after, before)
	}
}

// TestTheNextStartContinuesARebuild starts on what a process leaves that ended
// in the middle.
func TestTheNextStartContinuesARebuild(t *testing.T) {
	cfg := newConfig(t, 40)
	k := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "it is ready", func() bool { return k.writing.Load() != nil })
	before := generations(t, cfg.Store)
	k.stop()
	if err := cfg.Store.RetireGeneration(t.Context(), before[0]); err != nil {
		t.Fatal(err)
	}
	again := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "it answers", func() bool { return found(t, again) == 40 })
	wait.Until(t, "the new generation is the only one", func() bool {
		after := generations(t, cfg.Store)
		return len(after) == 1 && after[0] != before[0]
	})
	wait.Until(t, "it answers still", func() bool { return found(t, again) == 40 })
}

// full is a catalog on a disk that has no room to remove a generation.
func full(store *sqlstore.Store) *sqlstore.Store {
	return catalogfile.Around(store, func(op string, do func() error) error {
		if op == "drop generation" {
			return errors.New("no space left on device")
		}
		return do()
	})
}

// TestAReplacedIndexNeedsNoRoom lets the last flush of what is replaced fail: the process
// goes on.
func TestAReplacedIndexNeedsNoRoom(t *testing.T) {
	// jam puts a file in the place of the directory that the keyword engine writes.
	jam := func(t *testing.T, s *Stack) {
		t.Helper()
		path := s.snapshot("keyword")
		wait.Until(t, "nothing is written", func() bool {
			return os.RemoveAll(path) == nil && os.WriteFile(path, nil, 0o600) == nil
		})
	}
	t.Run("built again", func(t *testing.T) {
		cfg := newConfig(t, 40)
		k := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
		wait.Until(t, "it is ready", func() bool { return k.writing.Load() != nil })
		jam(t, k.writing.Load().stack)
		put(t, cfg.Store, 40, 41)
		wait.Until(t, "there is something to flush", func() bool { return found(t, k) == 41 })
		if err := k.Rebuild(t.Context(), func(int, int) {}); err != nil {
			t.Fatal(err)
		}
		put(t, cfg.Store, 41, 42)
		wait.Until(t, "the index goes on", func() bool { return found(t, k) == 42 })
	})
	t.Run("another model", func(t *testing.T) {
		cfg := newConfig(t, 40)
		first := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
		wait.Until(t, "the first index", func() bool { return found(t, first) == 40 })
		first.stop()
		model := newModelServer(t)
		model.held.Lock()
		cfg.Embed, cfg.Store = model.embed(), full(cfg.Store)
		k := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
		wait.Until(t, "the earlier index serves", func() bool { return found(t, k) == 40 })
		jam(t, k.serving.Load())
		put(t, cfg.Store, 40, 41)
		wait.Until(t, "there is something to flush", func() bool { return found(t, k) == 41 })
		model.held.Unlock()
		wait.Until(t, "the earlier index stays", func() bool {
			return k.log.hold("the earlier index cannot be removed: the next start tries it again")
		})
		put(t, cfg.Store, 41, 42)
		wait.Until(t, "the new index goes on", func() bool { return found(t, k) == 42 })
	})
}
