package stack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/retrieval/corpus"
)

// KeeperConfig configures a Keeper.
type KeeperConfig struct {
	Config
	// Sync writes to the catalog until ctx ends, and calls firstPass when every
	// source has been run once. It is called in the process that writes the
	// index. nil: nothing is synced.
	Sync func(ctx context.Context, firstPass func()) error
	// Reader never syncs, executes jobs or writes the index.
	Reader bool
	// Jobs executes what people ask for until ctx ends, in the process that writes the
	// index. nil: nobody does.
	Jobs func(ctx context.Context)
}

// Keeper keeps the index of a directory up to date while a server runs: as the
// only writer, as a reader that takes over when the writer is gone, or as a reader. It is the
// Searcher over the generation that serves.
type Keeper struct {
	cfg     KeeperConfig
	lock    catalog.Lock                      // nil: another process writes the index
	serving atomic.Pointer[Stack]             // nil before the first
	problem atomic.Pointer[retrieval.Down]    // why the configured model's index is not open
	filling atomic.Pointer[retrieval.Filling] // the index that is built beside the one that serves; nil: none
	writing atomic.Pointer[feeding]           // the generation that is complete and fed by this process; nil: none

	slice   atomic.Int64 // until when no search is waited for, in nanoseconds since 1970
	yielded atomic.Bool  // the lock was lost, and nothing is fed since

	rebuilding sync.Mutex // held by Rebuild

	mu        sync.Mutex           // guards opened and published
	opened    []*Stack             // to be closed
	published *retrieval.Relevance // nil: that of the configuration

	look     time.Duration // between two polls of another process
	retry    time.Duration // before an unreachable model server is tried again
	outage   time.Duration // before an index of another model is built because of it
	patience time.Duration // before another model serves, while a server opens a new one
	most     time.Duration // that embedding waits for searches which are under way
}

var _ retrieval.Searcher = (*Keeper)(nil)

// NewKeeper returns a keeper; Run or Follow makes it work.
func NewKeeper(cfg KeeperConfig) *Keeper {
	return &Keeper{cfg: cfg, look: time.Second, retry: 5 * time.Second, outage: time.Minute, patience: openPatience,
		most: mostYield}
}

// Run works until ctx ends: as writer of the index, or, while another process
// is that, as reader. The engines stay open for requests that are under way
// until Close.
//
// While the catalog is on a server that does not answer, what was open stays open, and
// the server is tried again.
func (k *Keeper) Run(ctx context.Context) error {
	for logged := false; ; {
		began := time.Now()
		err := k.run(ctx)
		if !errors.Is(err, catalog.ErrUnreachable) || ctx.Err() != nil {
			return stopped(ctx, err)
		}
		if again := logged && time.Since(began) < time.Minute; !again {
			k.cfg.Log.Error("the catalog cannot be reached and is tried again", "every", k.look, "error", err)
		}
		logged = true
		k.yieldLock()
		if !sleep(ctx, k.look) {
			return nil
		}
	}
}

// yieldLock gives up the lock, if it is held. One that cannot be given up runs out.
func (k *Keeper) yieldLock() {
	if k.lock == nil {
		return
	}
	k.writing.Store(nil)
	k.yielded.Store(true)
	if err := k.lock.Unlock(); err != nil {
		k.cfg.Log.Warn("the lock that was lost cannot be given up", "error", err)
	}
	k.lock = nil
}

func (k *Keeper) run(ctx context.Context) (err error) {
	if k.cfg.Reader {
		return k.read(ctx, false)
	}
	for {
		if k.lock == nil {
			if k.lock, err = k.cfg.tryLock(ctx); err != nil {
				return err
			}
		}
		if k.lock == nil {
			k.cfg.Log.Info("another process writes the index: this one reads it and does not sync")
			if err := k.read(ctx, true); err != nil || k.lock == nil {
				return err
			}
			k.cfg.Log.Info("the other process is gone: this one writes the index from here on")
		}
		if err := k.writeWhileLocked(ctx); !errors.Is(err, catalog.ErrOvertaken) {
			return err
		}
		k.cfg.Log.Warn("the lock of the writer ran out: this process was stopped, or the catalog did not answer for too long")
		k.yieldLock()
	}
}

// writeWhileLocked is write until the lock is lost: ErrOvertaken then.
func (k *Keeper) writeWhileLocked(ctx context.Context) error {
	writing, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ended := make(chan struct{})
	defer func() { stop(nil); <-ended }()
	go func() {
		defer close(ended)
		select {
		case <-k.lock.Lost():
			stop(catalog.ErrOvertaken)
		case <-writing.Done():
		}
	}()
	k.cfg.epoch = k.lock.Epoch()
	k.yielded.Store(false)
	err := k.write(writing)
	if errors.Is(context.Cause(writing), catalog.ErrOvertaken) {
		return catalog.ErrOvertaken
	}
	return err
}

// Follow works until ctx ends as a reader only. If no process writes the index
// it is brought up to date first, so that what this computes is not lost when
// this process ends.
func (k *Keeper) Follow(ctx context.Context) error {
	lock, err := k.cfg.tryLock(ctx)
	if err != nil {
		return err
	}
	if lock != nil {
		s, err := open(ctx, k.cfg.Config, lock)
		if err != nil {
			return stopped(ctx, err)
		}
		k.serving.Store(s) // for its progress
		_, err = s.Follower.CatchUp(ctx)
		k.serving.Store(nil)
		if err = errors.Join(err, s.Close()); err != nil {
			return stopped(ctx, err)
		}
	}
	return stopped(ctx, k.read(ctx, false))
}

// Close waits for the searches that are under way, closes the engines and releases
// the lock. Run and Follow must have returned.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	for _, s := range k.opened {
		errs = append(errs, s.users.drain(context.Background()), s.Close()) // a search has a deadline
	}
	k.opened = nil
	return errors.Join(append(errs, unlock(k.lock))...)
}

// use returns the stack that serves, which stays open until done is called. The
// error is ErrNotReady.
func (k *Keeper) use() (s *Stack, done func(), err error) {
	for {
		s := k.serving.Load()
		if s == nil {
			return nil, nil, retrieval.ErrNotReady
		}
		if s.users.enter() {
			return s, s.users.leave, nil
		}
		if s == k.serving.Load() { // the keeper is closed
			return nil, nil, retrieval.ErrNotReady
		}
	}
}

// ask asks the generation that serves.
func ask[T any](k *Keeper, about func(*Stack) (T, error)) (answer T, err error) {
	s, done, err := k.use()
	if err != nil {
		return answer, err
	}
	defer done()
	return about(s)
}

// Search implements retrieval.Searcher.
func (k *Keeper) Search(ctx context.Context, r retrieval.Request) (retrieval.Response, error) {
	return ask(k, func(s *Stack) (retrieval.Response, error) { return s.Searcher.Search(ctx, r) })
}

// Absent says where a record is in a search of the generation that serves; see
// retrieval.Engine.
func (k *Keeper) Absent(ctx context.Context, r retrieval.Request, record int64) (retrieval.Absence, error) {
	return ask(k, func(s *Stack) (retrieval.Absence, error) { return s.Searcher.Absent(ctx, r, record) })
}

// Signals returns the signals of a query's candidates in the generation that
// serves; see retrieval.Engine.
func (k *Keeper) Signals(ctx context.Context, r retrieval.Request) ([]retrieval.Signal, error) {
	return ask(k, func(s *Stack) ([]retrieval.Signal, error) { return s.Searcher.Signals(ctx, r) })
}

// Status implements retrieval.Searcher.
func (k *Keeper) Status(ctx context.Context) retrieval.Status {
	st, _ := ask(k, func(s *Stack) (retrieval.Status, error) { return s.Searcher.Status(ctx), nil })
	st.Next, st.Remark = k.filling.Load(), k.cfg.Embed.Stays()
	if why := k.problem.Load(); why != nil {
		st.Down = append(st.Down, *why)
	}
	return st
}

// Transformed reports whether the generation that serves has vectors of a transformer.
func (k *Keeper) Transformed() bool {
	s := k.serving.Load()
	return s != nil && s.cfg.Embed.Transformed()
}

// Indexed returns the generation that serves and its corpus.
func (k *Keeper) Indexed() (generation int64, indexed *corpus.Corpus, err error) {
	s, done, err := k.use()
	if err != nil {
		return 0, nil, err
	}
	defer done()
	return s.Indexed()
}

// Publish replaces what decides the order of answers, also for generations that are
// opened later. On an error everything stays as it was. Before a generation is open
// nothing can be checked, and there is no error.
func (k *Keeper) Publish(r retrieval.Relevance) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.opened { // all have the same engines: if any refuses, the first does
		if err := s.Searcher.Publish(r); err != nil {
			return err
		}
	}
	k.published = &r
	return nil
}

// opens adds a stack to those that Close closes. If it cannot use what is published,
// the configuration stays in force for it.
func (k *Keeper) opens(s *Stack) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.opened = append(k.opened, s)
	if k.published == nil {
		return
	}
	if err := s.Searcher.Publish(*k.published); err != nil {
		k.cfg.Log.Error("what is published cannot be used: the configuration is in force", "error", err)
	}
}

// ready waits until everything that is in the catalog now is indexed, declares the
// index ready and calls serve, before the log says so.
func (k *Keeper) ready(
	ctx context.Context, s *Stack, wait func(context.Context, int64) error, serve func(),
) error {
	head, err := k.cfg.Store.LastChange(ctx)
	if err != nil {
		return err
	}
	if err := wait(ctx, head); err != nil {
		return err
	}
	s.Follower.MarkReady()
	serve()
	records, passages := s.Follower.Corpus().Size()
	k.cfg.Log.Info("ready", "records", records, "passages", passages)
	return nil
}

// release closes a stack that served before, once searches that are under way
// have ended.
func (k *Keeper) release(ctx context.Context, old *Stack) error {
	if old == nil || old == k.serving.Load() || old.users.drain(ctx) != nil || !k.leaves(old) {
		return nil
	}
	return old.Close()
}

// leaves takes a stack from those that Close closes, and reports whether nobody did so
// before.
func (k *Keeper) leaves(s *Stack) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := slices.Index(k.opened, s)
	if at >= 0 {
		k.opened = slices.Delete(k.opened, at, at+1)
	}
	return at >= 0
}

// metaFirstSync is set once every source of the network has been run, so that
// what is indexed is not a fragment.
const metaFirstSync = "first_sync"

// MarkSynced remembers that every source has been run once.
func MarkSynced(ctx context.Context, store *sqlstore.Store) error {
	return store.SetMeta(ctx, metaFirstSync, "done")
}

// Synced reports whether every source has been run once.
func Synced(ctx context.Context, store *sqlstore.Store) (bool, error) {
	done, err := store.Meta(ctx, metaFirstSync)
	if err != nil {
		return false, fmt.Errorf("first sync: %w", err)
	}
	return done != "", nil
}

// stopped returns the error of work, nil if the work ended because ctx did.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// sleep returns false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
