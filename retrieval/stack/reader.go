package stack

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"almanac/catalog"
)

// read follows the change log as a reader until ctx ends, or until k.lock is
// held if it is to take over. It follows the writer to other generations.
func (k *Keeper) read(ctx context.Context, takeOver bool) error {
	for k.lock == nil && ctx.Err() == nil {
		s, err := k.openReader(ctx)
		if err != nil {
			return err
		}
		k.opens(s)
		if err := k.readOn(ctx, s, takeOver); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// openReader opens the configured model's generation if it was complete, else
// the newest that was, else the configured one, which is being built.
func (k *Keeper) openReader(ctx context.Context) (*Stack, error) {
	s, err := openConfigured(ctx, k.cfg.Config, true)
	if err == nil && s.origin.Complete {
		return s, nil
	}
	g, o, ok, findErr := latestComplete(ctx, k.cfg.Store)
	if findErr != nil || !ok {
		return s, errors.Join(err, findErr)
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		k.cfg.Log.Warn("the index of an earlier model serves", "model", o.Model, "error", err)
	}
	return openEarlier(ctx, k.cfg.Config, g, o, true)
}

// readOn reads one generation until it is dropped, another is complete, the lock is free
// or ctx ends.
func (k *Keeper) readOn(ctx context.Context, s *Stack, takeOver bool) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	newest, _, _, err := latestComplete(ctx, k.cfg.Store)
	if err != nil {
		return err
	}
	g, reading := errgroup.WithContext(reading)
	g.Go(func() error { return s.Follower.Run(reading) })
	g.Go(func() error {
		k.serving.CompareAndSwap(nil, s)
		if k.cfg.Sync != nil {
			if err := k.awaitFirstSync(reading); err != nil {
				return stopped(reading, err)
			}
		}
		before := k.serving.Load()
		if err := k.ready(reading, s, s.Follower.Wait, func() { k.succeed(before, s) }); err != nil {
			return stopped(reading, err)
		}
		if k.former.Load() == nil {
			return k.release(reading, before)
		}
		sleep(reading, k.kept)
		return k.dismiss(context.WithoutCancel(reading)) // searches have a deadline
	})
	g.Go(func() (err error) {
		defer stop()
		for k.lock == nil && err == nil && sleep(reading, k.look) {
			if takeOver {
				k.lock, err = k.cfg.tryLock(reading)
			}
			if ended, endErr := k.ended(reading, s, newest); ended || endErr != nil {
				return stopped(reading, endErr)
			}
		}
		return err
	})
	return g.Wait()
}

// ended reports whether there is another generation to read: this one was dropped, or
// one was completed since newest was the newest that is. What served before is closed
// when it is dropped: the texts of its results are gone.
func (k *Keeper) ended(ctx context.Context, s *Stack, newest catalog.Generation) (bool, error) {
	if f := k.former.Load(); f != nil {
		if gone, err := f.stack.dropped(ctx); err != nil || gone {
			return false, errors.Join(err, k.dismiss(ctx))
		}
	}
	g, _, ok, err := latestComplete(ctx, k.cfg.Store)
	if err != nil || ok && g.ID != newest.ID && g.ID != s.generation.ID {
		return err == nil, err
	}
	return s.dropped(ctx)
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
