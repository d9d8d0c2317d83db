package stack

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
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

// readOn reads one generation until it is dropped, the lock is free or ctx
// ends.
func (k *Keeper) readOn(ctx context.Context, s *Stack, takeOver bool) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	g, reading := errgroup.WithContext(reading)
	g.Go(func() error { return s.Follower.Run(reading) })
	g.Go(func() error {
		k.serving.CompareAndSwap(nil, s)
		if k.cfg.Sync != nil {
			if err := k.awaitFirstSync(reading); err != nil {
				return stopped(reading, err)
			}
		}
		var before *Stack
		serve := func() { before = k.serving.Swap(s) }
		if err := k.ready(reading, s, s.Follower.Wait, serve); err != nil {
			return stopped(reading, err)
		}
		return k.release(reading, before)
	})
	g.Go(func() (err error) {
		defer stop()
		for k.lock == nil && err == nil && sleep(reading, k.look) {
			if takeOver {
				k.lock, err = k.cfg.tryLock(reading)
			}
			if gone, goneErr := s.dropped(reading); gone || goneErr != nil {
				return stopped(reading, goneErr)
			}
		}
		return err
	})
	return g.Wait()
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
