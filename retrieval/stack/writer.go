package stack

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"almanac/catalog"
	"almanac/embed"
	"almanac/embed/remote"
	"almanac/retrieval"
	"almanac/retrieval/index"
)

// write syncs and keeps the index up to date with the catalog.
func (k *Keeper) write(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	passed := make(chan struct{})
	if k.cfg.Sync != nil {
		g.Go(func() error { return k.cfg.Sync(ctx, sync.OnceFunc(func() { close(passed) })) })
	}
	if k.cfg.Jobs != nil {
		g.Go(func() error { k.cfg.Jobs(ctx); return nil })
	}
	g.Go(func() error { return k.index(ctx, g, passed) })
	return g.Wait()
}

// feeding is a stack whose follower runs in this process.
type feeding struct {
	stack  *Stack
	parent context.Context // of all that this process feeds
	ctx    context.Context // of the feeding
	group  *errgroup.Group
	stop   context.CancelCauseFunc
	ended  chan struct{} // closed when the feeding has ended
}

// feed runs the follower of a stack until ctx ends or end is called.
func feed(ctx context.Context, g *errgroup.Group, s *Stack) *feeding {
	w := &feeding{stack: s, parent: ctx, group: g, ended: make(chan struct{})}
	w.ctx, w.stop = context.WithCancelCause(ctx)
	g.Go(func() error {
		defer close(w.ended)
		return s.Follower.Run(w.ctx)
	})
	return w
}

// end ends the feeding of a generation that is to be removed, or that others serve now.
func (w *feeding) end() {
	w.stop(index.ErrReplaced)
	<-w.ended
}

// index writes the index of the configured model. Until that is complete, an
// earlier complete generation serves and is kept up to date too.
func (k *Keeper) index(ctx context.Context, g *errgroup.Group, passed <-chan struct{}) error {
	before := &earlier{keeper: k, group: g, passed: passed, stack: k.serving.Load()}
	cfg, err := k.prepare(ctx, before)
	if err != nil {
		return err
	}
	s, err := k.openWriter(ctx, cfg, before)
	if err != nil {
		return err
	}
	k.opens(s)
	before.found()
	wait := s.Follower.Wait
	if !s.origin.Complete {
		if err := before.open(ctx, s.generation.ID, false); err != nil {
			return err
		}
		if before.stack != nil && before.stack.generation.ID != s.generation.ID {
			hide := k.show(ctx, s)
			defer hide()
			wait = func(ctx context.Context, head int64) error { // the serving generation has its vectors, too
				defer hide()
				return k.waitAll(ctx, s, before, head)
			}
		} else if few, err := little(ctx, k.cfg.Store); err != nil {
			return err
		} else if k.cfg.Embed.Model == embed.Auto || few && cfg.Embed.inProgram() {
			wait = s.Follower.WaitAll // it takes but a moment
		}
	}
	k.serving.CompareAndSwap(nil, s)
	w := feed(ctx, g, s)
	if err := k.firstSync(ctx, passed); err != nil {
		return err
	}
	if err := k.ready(ctx, s, k.completing(s, wait), func() { k.serving.Store(s) }); err != nil {
		return err
	}
	if err := k.awaitReaders(ctx, s); err != nil {
		return err
	}
	if before.fed != nil {
		before.fed.end()
	}
	k.writing.Store(w)
	if before.stack != nil && before.stack.origin.Model != s.origin.Model {
		k.cfg.Log.Info("another model serves", "model", s.origin.Model, "before", before.stack.origin.Model)
	}
	if err := k.release(ctx, before.stack); err != nil {
		return err
	}
	k.rebuilding.Lock()
	defer k.rebuilding.Unlock()
	if k.writing.Load() != w {
		return nil // it was built again meanwhile
	}
	s.Follower.Promote()
	err = s.dropReplaced(ctx)
	if err == nil || ctx.Err() != nil || errors.Is(err, catalog.ErrUnreachable) || errors.Is(err, catalog.ErrOvertaken) {
		return err
	}
	k.cfg.Log.Error("the earlier index cannot be removed: the next start tries it again", "error", err)
	return nil
}

// completing returns a wait that also stores that the generation is complete. It
// stores this before the log says so: a process that is stopped right after that line
// continues the index at its next start.
func (k *Keeper) completing(s *Stack, wait func(context.Context, int64) error) func(context.Context, int64) error {
	return func(ctx context.Context, head int64) error {
		if err := wait(ctx, head); err != nil || s.origin.Complete {
			return err
		}
		s.origin.Complete = true
		return s.origin.save(ctx, k.cfg.Store, s.generation)
	}
}

// waitAll waits until a generation holds everything. While its model cannot be had, the
// transformer in the program may come to serve.
func (k *Keeper) waitAll(ctx context.Context, s *Stack, before *earlier, head int64) error {
	stop := every(ctx, k.retry, func() {
		if slices.ContainsFunc(s.Follower.Health(), func(h index.Health) bool { return isAway(h.Err) }) {
			before.missing(ctx)
		} else {
			before.found()
		}
	})
	err := s.Follower.WaitAll(ctx, head)
	stop()
	before.found()
	return err
}

// openWriter opens the configured model's generation. While its server does not
// answer, or refuses, another one serves and the server is tried again.
func (k *Keeper) openWriter(ctx context.Context, cfg Config, before *earlier) (*Stack, error) {
	for {
		s, err := k.openServed(ctx, cfg, before)
		if err == nil {
			k.problem.Store(nil)
			return s, nil
		}
		if cfg.Embed.URL == "" || ctx.Err() != nil || catalog.Failed(err) {
			return nil, err
		}
		if k.misses(err) {
			k.cfg.Log.Warn("the index cannot be opened and is tried again", "every", k.retry, "error", err)
		}
		if err := before.open(ctx, 0, true); err != nil {
			return nil, err
		}
		before.missing(ctx)
		if !sleep(ctx, k.retry) {
			return nil, ctx.Err()
		}
	}
}

// openServed opens the configured model's generation. A server that never had
// the model may have to fetch it first: another generation serves meanwhile.
func (k *Keeper) openServed(ctx context.Context, cfg Config, before *earlier) (*Stack, error) {
	known, err := knownOf(ctx, cfg.Store, cfg.Embed)
	if err != nil {
		return nil, err
	}
	var model embed.Embedder
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		model, err = openModel(ctx, cfg, known)
	}()
	patience := k.patience
	if known != (remote.Known{}) { // then a server that is away is waited for that long
		patience *= 2
	}
	for cfg.Embed.URL != "" && !closes(opened, patience) {
		k.problem.CompareAndSwap(nil, &retrieval.Down{Engine: "embedder", Lacks: "model is not ready",
			Reason: "its server has not made the model ready yet: it may be fetching it"})
		if err := before.open(ctx, 0, true); err != nil {
			return nil, err
		}
		before.missing(ctx)
		patience = k.retry
	}
	if <-opened; err != nil {
		return nil, err
	}
	return openModelled(ctx, cfg, model, false)
}

// closes reports whether a channel is closed, or is within a time.
func closes(c <-chan struct{}, within time.Duration) bool {
	select {
	case <-c:
		return true
	default:
	}
	select {
	case <-c:
		return true
	case <-time.After(within):
		return false
	}
}

// firstSync waits until every source has been run once, in this process or an
// earlier one. What a first sync could read is served, even if a source failed.
func (k *Keeper) firstSync(ctx context.Context, passed <-chan struct{}) error {
	if k.cfg.Sync == nil {
		return nil
	}
	if done, err := Synced(ctx, k.cfg.Store); err != nil || done {
		return err
	}
	select {
	case <-passed:
		return MarkSynced(ctx, k.cfg.Store)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// earlier is the generation that serves until another is complete: the one that
// this process read before it took over, or one that it opens and feeds.
type earlier struct {
	keeper *Keeper
	group  *errgroup.Group
	passed <-chan struct{} // closed when every source was run once
	stack  *Stack          // nil: there is none
	fed    *feeding        // nil: it is not fed by this process
	ready  chan struct{}   // closed when what is fed holds everything

	missed time.Time // since when the model has not been there; zero: it is
	better *standIn  // what is built to replace stack; nil: nothing is
}

// open opens and feeds the newest complete generation, unless that is the generation
// except, which its caller opens. If no generation was ever complete it builds that of
// the table, if that is wanted.
func (e *earlier) open(ctx context.Context, except int64, build bool) error {
	k := e.keeper
	if e.fed != nil {
		return nil
	}
	g, o, ok, err := latestComplete(ctx, k.cfg.Store)
	if err != nil || !ok && !build || ok && g.ID == except {
		return err
	}
	var s *Stack
	message := "the index of an earlier model serves until the new one is complete"
	if ok {
		s, err = openEarlier(ctx, k.cfg.Config, g, o, false)
	} else {
		cfg := k.cfg.Config
		cfg.Embed = Embed{Model: embed.Table}
		s, err = openConfigured(ctx, cfg, false)
		message = "the built-in table serves until the index of the other model is complete"
	}
	if err != nil {
		return err
	}
	k.cfg.Log.Info(message, "model", s.origin.Model)
	k.opens(s)
	read := k.serving.Load() // by this process before it took over
	k.serving.CompareAndSwap(nil, s)
	e.stack, e.fed, e.ready = s, feed(ctx, e.group, s), make(chan struct{})
	feeding := e.fed.ctx
	e.group.Go(func() error {
		if err := k.firstSync(feeding, e.passed); err != nil {
			return stopped(feeding, err)
		}
		serve := func() { k.serving.CompareAndSwap(read, s) }
		if err := k.ready(feeding, s, k.completing(s, s.Follower.Wait), serve); err != nil {
			return stopped(feeding, err)
		}
		close(e.ready)
		return k.release(feeding, read)
	})
	return nil
}
