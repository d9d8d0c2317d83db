package main

import (
	"context"
	"errors"
	"slices"
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
	lock     *indexLock // nil: another process writes the index
	searcher *lateSearcher
	stack    *stack   // that serves; nil before the first
	opened   []*stack // that are to be closed
}

// lookEvery is how often a process that waits for another looks whether the
// wait is over.
const lookEvery = time.Second

// openAgain is the pause before a model server that was not there is asked
// again; openPatience is how long it may take when there is something to serve
// meanwhile.
const (
	openAgain    = 5 * time.Second
	openPatience = 2 * time.Second
)

// metaFirstSync tells, when it is not empty, that every source of the network
// has been run once, so that what is indexed is no fragment.
const metaFirstSync = "first_sync"

// serve works until ctx ends: as the writer of the index, or, while another
// process is that, as a reader who takes its place when it goes. The engines
// stay open for requests that are under way.
func (b *backend) serve(ctx context.Context) (err error) {
	if b.lock, err = lockIndex(b.dir); err != nil {
		return err
	}
	if b.lock == nil {
		b.app.log.Info("another process writes the index: this one reads it and does not sync")
		if err := b.read(ctx, true); err != nil || b.lock == nil {
			return stopped(ctx, err)
		}
		b.app.log.Info("the other process is gone: this one writes the index from here on")
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
	if lock != nil {
		s, err := openEngines(ctx, b.config(), b.store, false)
		if err != nil {
			return errors.Join(stopped(ctx, err), lock.unlock())
		}
		b.searcher.set(s) // for its progress
		_, err = s.follower.CatchUp(ctx)
		b.searcher.set(nil)
		if err = errors.Join(err, s.closeEngines(), lock.unlock()); err != nil {
			return stopped(ctx, err)
		}
	}
	return stopped(ctx, b.read(ctx, false))
}

// stopped is the error of work that ended with ctx: none.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (b *backend) config() stackConfig { return b.app.stackConfig(b.network, b.dir) }

// show lets searches use a stack. The one before stays open for those that
// are under way.
func (b *backend) show(s *stack) {
	b.stack = s
	b.searcher.set(s)
}

// read follows the change log as a reader: until the index lock is free if it
// is to take over, which is then b.lock, or until ctx ends. When the writer
// has moved on to another generation, so does the reader.
func (b *backend) read(ctx context.Context, takeOver bool) error {
	for b.lock == nil && ctx.Err() == nil {
		s, err := b.openReader(ctx)
		if err != nil {
			return err
		}
		b.opened = append(b.opened, s)
		if err := b.readOn(ctx, s, takeOver); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// openReader opens the configured model's generation if it was complete, else
// the newest that was, else the configured one, which is being built.
func (b *backend) openReader(ctx context.Context) (*stack, error) {
	s, err := openEngines(ctx, b.config(), b.store, true)
	if err == nil && s.build.Complete {
		return s, nil
	}
	g, x, ok, findErr := latest(ctx, b.store, func(x build) bool { return x.Complete })
	if findErr != nil || !ok {
		return s, errors.Join(err, findErr)
	}
	if err == nil {
		err = s.closeEngines()
	}
	if err != nil {
		b.app.log.Warn("the index of an earlier model serves", "model", x.Model, "error", err)
	}
	return openBuild(ctx, b.config(), b.store, g, x, true)
}

// readOn reads one generation until it is dropped, the lock is free or ctx
// ends.
func (b *backend) readOn(ctx context.Context, s *stack, takeOver bool) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	g, reading := errgroup.WithContext(reading)
	g.Go(func() error { return s.follower.Run(reading) })
	g.Go(func() error {
		if b.stack == nil {
			b.show(s)
		}
		if takeOver && b.app.config.Sync.Enabled {
			if err := b.awaitFirstSync(reading); err != nil {
				return stopped(reading, err)
			}
		}
		if err := b.ready(reading, s, s.follower.Wait); err != nil {
			return stopped(reading, err)
		}
		old := b.stack
		b.show(s)
		return b.release(reading, old)
	})
	g.Go(func() (err error) {
		defer stop()
		for b.lock == nil && err == nil && sleep(reading, lookEvery) {
			if takeOver {
				b.lock, err = lockIndex(b.dir)
			}
			if gone, goneErr := b.dropped(reading, s); gone || goneErr != nil {
				return stopped(reading, goneErr)
			}
		}
		return err
	})
	return g.Wait()
}

// dropped reports whether a stack's generation is no more.
func (b *backend) dropped(ctx context.Context, s *stack) (bool, error) {
	all, err := b.store.Generations(ctx)
	return err == nil && !slices.ContainsFunc(all, func(g catalog.Generation) bool { return g.ID == s.generation.ID }), err
}

// release closes a stack that served before another, once searches that are
// under way have ended.
func (b *backend) release(ctx context.Context, old *stack) error {
	if old == nil || old == b.stack || !sleep(ctx, drain) {
		return nil
	}
	b.opened = slices.DeleteFunc(b.opened, func(s *stack) bool { return s == old })
	return old.closeEngines()
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

// write runs the sources on their schedules and keeps the index in step with
// the catalog.
func (b *backend) write(ctx context.Context) error {
	g, working := errgroup.WithContext(ctx)
	synced := func(context.Context) error { return nil }
	if b.app.config.Sync.Enabled {
		pipeline, err := b.app.pipeline(ctx, b.network, b.store, b.dir, false)
		if err != nil {
			return err
		}
		scheduler := ingest.NewScheduler(pipeline)
		g.Go(func() error { scheduler.Run(working); return nil })
		synced = func(ctx context.Context) error { return b.firstSync(ctx, scheduler) }
	}
	g.Go(func() error { return b.index(working, synced) })
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

// index writes the index of the configured model. Where that is not complete,
// another that was serves until it is, and is kept in step as long.
func (b *backend) index(ctx context.Context, synced func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	serving, end := context.WithCancel(ctx) // what serves meanwhile
	defer end()
	ended := make(chan struct{})
	before := b.stack // a reader's, where there was one
	meanwhile := func(not int64) error {
		if b.stack != nil {
			return nil
		}
		gen, x, ok, err := latest(ctx, b.store, func(x build) bool { return x.Complete })
		if err != nil || !ok || gen.ID == not {
			return err
		}
		s, err := openBuild(ctx, b.config(), b.store, gen, x, false)
		if err != nil {
			return err
		}
		b.app.log.Info("the index of an earlier model serves until the new one is complete", "model", x.Model)
		b.opened, before = append(b.opened, s), s
		b.show(s)
		g.Go(func() error {
			defer close(ended)
			return s.follower.Run(serving)
		})
		g.Go(func() error { return stopped(serving, b.ready(serving, s, s.follower.Wait)) })
		return nil
	}
	s, err := b.openWriter(ctx, meanwhile)
	if err != nil {
		return err
	}
	b.opened = append(b.opened, s)
	wait := s.follower.Wait
	if !s.build.Complete {
		if err := meanwhile(s.generation.ID); err != nil {
			return err
		}
		if before != nil && before.generation.ID != s.generation.ID {
			wait = s.follower.WaitAll // what serves has its vectors, too
		}
	}
	if b.stack == nil {
		b.show(s)
	}
	g.Go(func() error { return s.follower.Run(ctx) })
	g.Go(func() error {
		if err := synced(ctx); err != nil {
			return err
		}
		// Remembered before it is said: whoever stops the program then has an
		// index to go on with.
		complete := func(ctx context.Context, head int64) error {
			if err := wait(ctx, head); err != nil {
				return err
			}
			s.build.Complete = true
			return s.build.save(ctx, b.store, s.generation)
		}
		if err := b.ready(ctx, s, complete); err != nil {
			return err
		}
		b.show(s)
		end()
		if before != nil && !before.readOnly {
			<-ended
		}
		if err := b.release(ctx, before); err != nil {
			return err
		}
		s.follower.Promote()
		return s.dropReplaced(ctx)
	})
	return g.Wait()
}

// openWriter opens the configured model's generation. While its server does
// not answer, or refuses, another serves and it is asked again.
func (b *backend) openWriter(ctx context.Context, meanwhile func(not int64) error) (*stack, error) {
	told := ""
	for {
		s, err := openEngines(ctx, b.config(), b.store, false)
		if err == nil {
			b.searcher.obstacle.Store(nil)
			return s, nil
		}
		if b.app.config.Embed.URL == "" || ctx.Err() != nil {
			return nil, err
		}
		if err.Error() != told {
			told = err.Error()
			b.app.log.Error("the index cannot be opened and is tried again", "every", openAgain, "error", err)
			b.searcher.obstacle.Store(&told)
		}
		if err := meanwhile(0); err != nil {
			return nil, err
		}
		if !sleep(ctx, openAgain) {
			return nil, ctx.Err()
		}
	}
}

// ready waits until everything that is in the catalog now is indexed, and
// declares the index ready.
func (b *backend) ready(ctx context.Context, s *stack, wait func(context.Context, int64) error) error {
	head, err := b.store.LastChange(ctx)
	if err != nil {
		return err
	}
	if err := wait(ctx, head); err != nil {
		return err
	}
	s.follower.MarkReady()
	records, passages := s.follower.Table().Size()
	b.app.log.Info("ready", "records", records, "passages", passages)
	return nil
}

// close closes the engines. Nothing may use them any more.
func (b *backend) close() error {
	var errs []error
	for _, s := range b.opened {
		errs = append(errs, s.closeEngines())
	}
	return errors.Join(append(errs, b.lock.unlock())...)
}

// lateSearcher stands for the searcher until the engines are open.
type lateSearcher struct {
	stack    atomic.Pointer[stack]
	obstacle atomic.Pointer[string] // why the configured model's index is not open
}

func (l *lateSearcher) set(s *stack) { l.stack.Store(s) }

func (l *lateSearcher) Search(ctx context.Context, r retrieval.Request) (retrieval.Response, error) {
	if s := l.stack.Load(); s != nil {
		return s.searcher.Search(ctx, r)
	}
	return retrieval.Response{}, retrieval.ErrNotReady
}

func (l *lateSearcher) Status(ctx context.Context) (st retrieval.Status) {
	if s := l.stack.Load(); s != nil {
		st = s.searcher.Status(ctx)
	}
	if why := l.obstacle.Load(); why != nil {
		st.Down = append(st.Down, retrieval.Down{Engine: "embedder", Reason: *why})
	}
	return st
}
