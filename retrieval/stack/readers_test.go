package stack

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/testing/meilitest"
	"almanac/testing/wait"
)

// fleet stands in for what processes on one database know of each other.
type fleet struct {
	mu     sync.Mutex
	writer *member
	epoch  int64
	serve  map[*member]int64
}

// member is one process's view of a catalog that the fleet shares.
type member struct {
	catalog.Store
	*fleet
}

func (m *member) TryLock(context.Context) (catalog.Lock, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writer != nil {
		return nil, nil
	}
	m.writer = m
	m.epoch++
	return held{m, m.epoch}, nil
}

func (m *member) Attend(_ context.Context, generation int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.serve[m] = generation
	return nil
}

func (m *member) Elsewhere(_ context.Context, generation int64) (n int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for other, at := range m.serve {
		if other != m && at != generation {
			n++
		}
	}
	return n, nil
}

func (m *member) Fits(context.Context) error { return nil }

type held struct {
	*member
	epoch int64
}

func (h held) Lost() <-chan struct{} { return nil }
func (h held) Epoch() int64          { return h.epoch }
func (h held) Unlock() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.writer == h.member {
		h.writer = nil
	}
	return nil
}

// TestReadersOpenTheNextIndexBeforeItIsPromoted builds the index again on a server that two
// processes share, while people search in the one that reads: the index that it searches is
// there until it searches the next.
func TestReadersOpenTheNextIndexBeforeItIsPromoted(t *testing.T) {
	cfg := newConfig(t, 40)
	cfg.Keyword = Keyword{URL: meilitest.Start(t).URL, Index: "almanac"}
	all := &fleet{serve: map[*member]int64{}}
	at := func(dir string, reader bool) running {
		c := cfg
		c.Dir, c.Store = dir, &member{cfg.Store, all}
		return keep(t, KeeperConfig{Config: c, Reader: reader}, (*Keeper).Run)
	}
	writer := at(cfg.Dir, false)
	wait.Until(t, "the writer is ready", func() bool { return writer.writing.Load() != nil })
	reader := at(t.TempDir(), true)
	wait.Until(t, "the reader is ready", func() bool { return found(t, reader) == 40 })
	before := reader.serving.Load().generation
	wait.Until(t, "an index on a server can have another name", func() bool {
		return time.Now().Unix() > before.CreatedAt.Unix()
	})
	searching, end := context.WithCancel(t.Context())
	var searches sync.WaitGroup
	searches.Go(func() {
		for searching.Err() == nil {
			res, err := reader.Search(t.Context(), retrieval.Request{Query: "harbour beacon", Limit: 100})
			if err != nil || res.Total != 40 || len(res.Degraded) > 0 {
				t.Errorf("%d are found without %v, %v", res.Total, res.Degraded, err)
				return
			}
		}
	})
	if err := writer.Rebuild(t.Context(), func(int, int) {}); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the reader serves the next", func() bool {
		now := reader.serving.Load().generation.ID
		return now != before.ID && now == writer.serving.Load().generation.ID
	})
	end()
	searches.Wait()
}

// TestTheWriterDoesNotWaitForEverForReaders has a reader that never opens the next index.
func TestTheWriterDoesNotWaitForEverForReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &fleet{serve: map[*member]int64{{}: 1}}
		k := NewKeeper(KeeperConfig{Config: Config{Store: &member{fleet: all}, Log: slog.New(slog.DiscardHandler)}})
		begun := time.Now()
		if err := k.awaitReaders(t.Context(), &Stack{generation: catalog.Generation{ID: 2}}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun).Round(time.Second); took < mostReaders || took > mostReaders+2*time.Second {
			t.Errorf("it waits %v", took)
		}
	})
}
