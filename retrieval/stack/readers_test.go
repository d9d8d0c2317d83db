package stack

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/testing/catalogfile"
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

// member is one process of the fleet, which shares a catalog.
type member struct{ *fleet }

// shared is a catalog that machines share, which another says who writes.
func shared(store *sqlstore.Store, by catalog.Locker) *sqlstore.Store {
	cfg := store.Config
	cfg.Locker = by
	return sqlstore.New(cfg)
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
		c.Dir, c.Store = dir, shared(cfg.Store, &member{all})
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

// cut is a server that can be cut off: then the lock runs out, as a lease does.
type cut struct {
	away atomic.Bool
	lost chan struct{}
}

func (c *cut) err() error {
	if c.away.Load() {
		return &catalog.Failure{Op: "ask", Err: catalog.ErrUnreachable}
	}
	return nil
}

func (c *cut) TryLock(context.Context) (catalog.Lock, error) {
	if err := c.err(); err != nil {
		return nil, err
	}
	return leased{c.lost}, nil
}

func (c *cut) Attend(context.Context, int64) error           { return c.err() }
func (c *cut) Elsewhere(context.Context, int64) (int, error) { return 0, c.err() }
func (c *cut) Fits(context.Context) error                    { return c.err() }

type leased struct{ lost chan struct{} }

func (l leased) Lost() <-chan struct{} { return l.lost }
func (leased) Epoch() int64            { return 1 }
func (leased) Unlock() error           { return nil }

// TestACatalogThatIsAwayIsAllThatIsBlamed cuts the writer off from its catalog until its lock
// runs out: nobody has taken over, and the model, whose server is well, is not blamed.
func TestACatalogThatIsAwayIsAllThatIsBlamed(t *testing.T) {
	cfg := newConfig(t, 10)
	store := &cut{lost: make(chan struct{})}
	cfg.Store = shared(catalogfile.Around(cfg.Store, func(op string, do func() error) error {
		if op == "generations" {
			return errors.Join(store.err(), do())
		}
		return do()
	}), store)
	cfg.Embed = newModelServer(t).embed()
	k := keep(t, KeeperConfig{Config: cfg}, (*Keeper).Run)
	wait.Until(t, "it writes, and has everything", func() bool {
		return k.writing.Load() != nil && len(k.Status(t.Context()).Down) == 0
	})
	lost := store.lost
	store.lost = make(chan struct{})
	store.away.Store(true)
	close(lost)
	wait.Until(t, "it tries again", func() bool {
		return k.log.hold("the catalog cannot be reached and is tried again")
	})
	if down := k.Status(t.Context()).Down; len(down) > 0 {
		t.Errorf("down: %v", down)
	}
	store.away.Store(false)
	wait.Until(t, "it writes again", func() bool { return k.writing.Load() != nil })
	if k.log.hold("another process writes the index: this one reads it and does not sync") {
		t.Error("it says that another process has taken over")
	}
}

// TestTheWriterDoesNotWaitForEverForReaders has a reader that never opens the next index.
func TestTheWriterDoesNotWaitForEverForReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &fleet{serve: map[*member]int64{{}: 1}}
		k := NewKeeper(KeeperConfig{Config: Config{Store: sqlstore.New(sqlstore.Config{Locker: &member{all}}), Log: slog.New(slog.DiscardHandler)}})
		begun := time.Now()
		if err := k.awaitReaders(t.Context(), &Stack{generation: catalog.Generation{ID: 2}}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun).Round(time.Second); took < mostReaders || took > mostReaders+2*time.Second {
			t.Errorf("it waits %v", took)
		}
	})
}
