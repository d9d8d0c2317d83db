package stack

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"almanac/catalog"
)

// read follows the change log as a reader until ctx ends, or until k.lock is held if it is
// to take over. When the writer has completed another generation, that is opened while
// this one still follows and answers.
func (k *Keeper) read(ctx context.Context, takeOver bool) error {
	g, all := errgroup.WithContext(ctx)
	all, stop := context.WithCancel(all)
	defer stop()
	err := k.readOn(all, g, takeOver)
	stop()
	if failed := g.Wait(); failed != nil {
		err = failed // and why the rest was stopped
	}
	if err == nil && k.lock == nil {
		err = ctx.Err()
	}
	return stopped(ctx, err)
}

// readOn opens one generation after the other until the lock is held or ctx ends.
func (k *Keeper) readOn(ctx context.Context, g *errgroup.Group, takeOver bool) error {
	var before []*feeding
	for k.lock == nil && ctx.Err() == nil {
		newest, err := k.newest(ctx)
		if err != nil {
			return stopped(ctx, err)
		}
		s, err := k.openReader(ctx)
		if err != nil && k.cfg.Embed.URL != "" && ctx.Err() == nil && !catalog.Failed(err) {
			if k.misses(err) {
				k.cfg.Log.Warn("the index cannot be opened and is tried again", "every", k.retry, "error", err)
			}
			if takeOver {
				if k.lock, err = k.cfg.tryLock(ctx); err != nil || k.lock != nil {
					return err
				}
			}
			sleep(ctx, k.retry)
			continue
		}
		if err != nil {
			return stopped(ctx, err)
		}
		k.opens(s)
		next, earlier := feed(ctx, g, s), before
		g.Go(func() error { return stopped(ctx, k.switchTo(ctx, s, earlier)) })
		if err := k.await(ctx, s, newest, takeOver); err != nil {
			return stopped(ctx, err)
		}
		before = append(before, next)
	}
	return nil
}

// switchTo lets a generation answer when it holds everything, and ends those before it.
func (k *Keeper) switchTo(ctx context.Context, s *Stack, before []*feeding) error {
	k.serving.CompareAndSwap(nil, s)
	if k.cfg.Sync != nil {
		if err := k.awaitFirstSync(ctx); err != nil {
			return err
		}
	}
	served := k.serving.Load()
	if err := k.ready(ctx, s, s.Follower.Wait, func() { k.serving.Store(s) }); err != nil {
		return err
	}
	if err := k.attend(ctx); err != nil {
		return err
	}
	for _, b := range before {
		b.end()
		if err := k.release(ctx, b.stack); err != nil {
			return err
		}
	}
	return k.release(ctx, served)
}

// newest returns the newest generation that was complete; 0: none.
func (k *Keeper) newest(ctx context.Context) (int64, error) {
	g, _, _, err := latestComplete(ctx, k.cfg.Store)
	return g.ID, err
}

// openReader opens the configured model's generation if it was complete, else
// the newest that was, else the configured one, which is being built.
func (k *Keeper) openReader(ctx context.Context) (*Stack, error) {
	s, err := openConfigured(ctx, k.cfg.Config, true)
	switch {
	case catalog.Failed(err):
		return nil, err
	case err == nil:
		k.problem.Store(nil)
		if s.origin.Complete {
			return s, nil
		}
	}
	g, o, ok, findErr := latestComplete(ctx, k.cfg.Store)
	if findErr != nil || !ok {
		return s, errors.Join(err, findErr)
	}
	if err == nil {
		if err := s.Close(); err != nil {
			return nil, err
		}
	} else if k.misses(err) {
		k.cfg.Log.Warn("the index of an earlier model serves", "model", o.Model, "error", err)
	}
	return openEarlier(ctx, k.cfg.Config, g, o, true)
}

// await returns when a generation is dropped, or another one than it and the newest by then
// was completed, or the lock is free and now held.
func (k *Keeper) await(ctx context.Context, s *Stack, newest int64, takeOver bool) (err error) {
	for asked := time.Now(); sleep(ctx, k.look); {
		if k.problem.Load() != nil && time.Since(asked) > k.retry {
			asked = time.Now()
			k.asksAgain(ctx)
		}
		if takeOver {
			if k.lock, err = k.cfg.tryLock(ctx); err != nil || k.lock != nil {
				return err
			}
		}
		if err := k.attend(ctx); err != nil {
			return err
		}
		if gone, err := s.dropped(ctx); gone || err != nil {
			return err
		}
		switch now, err := k.newest(ctx); {
		case err != nil:
			return err
		case now == s.generation.ID:
			newest = now
		case now != newest:
			return nil
		}
	}
	return nil
}

// attend tells the process that writes the index which generation answers here.
func (k *Keeper) attend(ctx context.Context) error {
	shared, s := k.cfg.Store.Locker, k.serving.Load()
	if shared == nil || s == nil || !s.Follower.Ready() {
		return nil
	}
	return shared.Attend(ctx, s.generation.ID)
}

// mostReaders is how long the writer waits for readers to open a generation.
const mostReaders = time.Minute

// awaitReaders waits until no other process answers from another generation, but not for
// ever: one may be configured to, or stopped.
func (k *Keeper) awaitReaders(ctx context.Context, s *Stack) error {
	shared := k.cfg.Store.Locker
	if shared == nil {
		return nil
	}
	for begun := time.Now(); ; {
		n, err := shared.Elsewhere(ctx, s.generation.ID)
		switch {
		case err != nil || n == 0:
			return err
		case time.Since(begun) > mostReaders:
			k.cfg.Log.Warn("servers answer from an index that is dropped now", "servers", n)
			return nil
		}
		if !sleep(ctx, k.look) {
			return ctx.Err()
		}
	}
}

// Behind is for how long what answers here has not had everything that was in the change
// log then; 0 in the process that writes the index.
func (k *Keeper) Behind() time.Duration {
	s := k.serving.Load()
	if s == nil || !s.readOnly && !k.yielded.Load() {
		return 0
	}
	return s.Follower.Behind()
}

// awaitFirstSync waits until another process has synced everything once.
func (k *Keeper) awaitFirstSync(ctx context.Context) error {
	for {
		if done, err := Synced(ctx, k.cfg.Store); err != nil || done {
			return err
		}
		if !sleep(ctx, k.look) {
			return ctx.Err()
		}
	}
}
