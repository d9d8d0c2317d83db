package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/retrieval"
)

// backend is the part of a server behind its listeners: it opens the engines,
// brings the index up to date and keeps it so. The catalog is the caller's.
type backend struct {
	app      *app
	network  network.Network
	dir      string
	store    catalog.Store
	searcher *lateSearcher
	stack    *stack // open now; nil before the first
}

// lookEvery is how often a process that waits for another looks whether the
// wait is over.
const lookEvery = time.Second

// metaFirstSync tells, when it is not empty, that every source of the network
// has been run once, so that what is indexed is no fragment.
const metaFirstSync = "first_sync"

// serve works until ctx ends: as the writer of the index, or, while another
// process is that, as a reader who takes its place when it goes. The engines
// stay open for requests that are under way.
func (b *backend) serve(ctx context.Context) error {
	lock, err := lockIndex(b.dir)
	if err != nil {
		return err
	}
	if err := b.open(ctx, lock); err != nil {
		return stopped(ctx, err)
	}
	if lock == nil {
		b.app.log.Info("another process writes the index: this one reads it and does not sync")
		if lock, err = b.read(ctx); err != nil || lock == nil {
			return stopped(ctx, err)
		}
		b.app.log.Info("the other process is gone: this one writes the index from here on")
		if err := b.takeOver(ctx, lock); err != nil {
			return stopped(ctx, err)
		}
	}
	return stopped(ctx, b.write(ctx))
}

// follow works until ctx ends as a reader only. If nobody writes the index it
// is brought up to date first, so that what it takes is not lost with this
// process.
func (b *backend) follow(ctx context.Context) error {
	lock, err := lockIndex(b.dir)
	if err != nil {
		return err
	}
	if err := b.open(ctx, lock); err != nil {
		return stopped(ctx, err)
	}
	if lock != nil {
		if _, err := b.stack.follower.CatchUp(ctx); err != nil {
			return stopped(ctx, err)
		}
		if err := b.stack.retire(); err != nil {
			return err
		}
		if err := b.open(ctx, nil); err != nil {
			return stopped(ctx, err)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return b.stack.follower.Run(ctx) })
	g.Go(func() error { return b.complete(ctx) })
	return stopped(ctx, g.Wait())
}

// stopped is the error of work that ended with ctx: none.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// open opens the engines and lets searches use them.
func (b *backend) open(ctx context.Context, lock *indexLock) error {
	s, err := openEngines(ctx, b.app.stackConfig(b.network, b.dir), b.store, lock)
	if err != nil {
		return err
	}
	b.stack = s
	b.searcher.set(s)
	return nil
}

// takeOver replaces a reader's engines by those of a writer when these are as
// far as those were, so that no search finds less than the one before.
func (b *backend) takeOver(ctx context.Context, lock *indexLock) error {
	old := b.stack
	s, err := openEngines(ctx, b.app.stackConfig(b.network, b.dir), b.store, lock)
	if err != nil {
		return err
	}
	b.stack = s
	if old.follower.Ready() {
		if _, err := s.follower.CatchUp(ctx); err != nil {
			return errors.Join(err, old.retire())
		}
		s.follower.MarkReady()
	}
	b.searcher.set(s)
	return old.retire()
}

// read follows the change log until the index lock is free, and returns it;
// nil when ctx ended first.
func (b *backend) read(ctx context.Context) (lock *indexLock, err error) {
	g, reading := errgroup.WithContext(ctx)
	reading, stop := context.WithCancel(reading)
	g.Go(func() error { return b.stack.follower.Run(reading) })
	g.Go(func() error {
		if b.app.config.Sync.Enabled {
			if err := b.awaitFirstSync(reading); err != nil {
				return stopped(reading, err)
			}
		}
		return stopped(reading, b.complete(reading))
	})
	g.Go(func() (err error) {
		defer stop()
		for lock == nil && err == nil && sleep(reading, lookEvery) {
			lock, err = lockIndex(b.dir)
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, errors.Join(err, lock.unlock())
	}
	return lock, nil
}

// awaitFirstSync waits until another process has synced everything once.
func (b *backend) awaitFirstSync(ctx context.Context) error {
	for {
		done, err := b.store.Meta(ctx, metaFirstSync)
		if err != nil || done != "" {
			return err
		}
		if !sleep(ctx, lookEvery) {
			return ctx.Err()
		}
	}
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

// write makes the first index complete, keeps it in step with the catalog and
// runs the sources on their schedules.
func (b *backend) write(ctx context.Context) error {
	g, working := errgroup.WithContext(ctx)
	if b.app.config.Sync.Enabled {
		pipeline, err := b.app.pipeline(ctx, b.network, b.store, b.dir, false)
		if err != nil {
			return err
		}
		scheduler := ingest.NewScheduler(pipeline)
		g.Go(func() error { scheduler.Run(working); return nil })
		g.Go(func() error {
			if err := b.firstSync(working, scheduler); err != nil {
				return err
			}
			return b.complete(working)
		})
	} else {
		g.Go(func() error { return b.complete(working) })
	}
	g.Go(func() error { return b.stack.follower.Run(working) })
	return g.Wait()
}

// firstSync waits until every source has been run once, in this process or an
// earlier one. What a first sync could read is served, also if a source failed.
func (b *backend) firstSync(ctx context.Context, scheduler *ingest.Scheduler) error {
	done, err := b.store.Meta(ctx, metaFirstSync)
	if err != nil || done != "" {
		return err
	}
	select {
	case <-scheduler.FirstPass():
		return b.store.SetMeta(ctx, metaFirstSync, "done")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// complete waits until everything in the catalog is indexed, declares the
// index ready and, if this process writes it, drops those it replaces.
func (b *backend) complete(ctx context.Context) error {
	s := b.stack
	head, err := b.store.LastChange(ctx)
	if err != nil {
		return err
	}
	if err := s.follower.Wait(ctx, head); err != nil {
		return err
	}
	s.follower.MarkReady()
	records, passages := s.follower.Table().Size()
	b.app.log.Info("ready", "records", records, "passages", passages)
	if s.lock == nil {
		return nil
	}
	return s.dropReplaced(ctx)
}

// close closes the engines. Nothing may use them any more.
func (b *backend) close() error {
	if b.stack == nil {
		return nil
	}
	return b.stack.closeEngines()
}

// lateSearcher stands for the searcher until the engines are open.
type lateSearcher struct{ stack atomic.Pointer[stack] }

func (l *lateSearcher) set(s *stack) { l.stack.Store(s) }

func (l *lateSearcher) Search(ctx context.Context, r retrieval.Request) (retrieval.Response, error) {
	if s := l.stack.Load(); s != nil {
		return s.searcher.Search(ctx, r)
	}
	return retrieval.Response{}, retrieval.ErrNotReady
}

func (l *lateSearcher) Status(ctx context.Context) retrieval.Status {
	if s := l.stack.Load(); s != nil {
		return s.searcher.Status(ctx)
	}
	return retrieval.Status{}
}
