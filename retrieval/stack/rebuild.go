package stack

import (
	"context"
	"errors"
	"time"
)

// Rebuild builds the index again from the catalog beside the one that serves,
// and lets it serve when it holds everything. It is for the process that writes
// the index, and waits until the first index is complete. progress gets how many changes
// of how many are indexed. If it fails or ctx ends everything stays as it was; if the
// process ends, the next start continues.
func (k *Keeper) Rebuild(ctx context.Context, progress func(done, total int)) error {
	k.rebuilding.Lock()
	defer k.rebuilding.Unlock()
	for k.writing.Load() == nil {
		if !sleep(ctx, lookEvery) {
			return ctx.Err()
		}
	}
	old := k.writing.Load()
	store, generation := k.cfg.Store, old.stack.generation.ID
	if err := store.RetireGeneration(ctx, generation); err != nil {
		return err
	}
	cfg := old.stack.cfg
	if cfg.Embed.inProgram() {
		cfg.yield = k.yield
	}
	s, err := openConfigured(ctx, cfg, false)
	if err != nil {
		return errors.Join(err, store.RestoreGeneration(context.WithoutCancel(ctx), generation))
	}
	k.opens(s)
	fresh := feed(old.parent, old.group, s)
	if err := k.replace(ctx, old, fresh, progress); err != nil {
		return errors.Join(err, k.abandon(ctx, fresh, s, generation))
	}
	k.writing.Store(fresh)
	if err := k.awaitReaders(old.parent, s); err != nil {
		return err
	}
	old.end()
	if err := k.release(old.parent, old.stack); err != nil {
		return err
	}
	s.Follower.Promote()
	return s.dropReplaced(old.parent)
}

// replace waits until a generation holds everything, and lets it serve instead
// of another.
func (k *Keeper) replace(ctx context.Context, old, fresh *feeding, progress func(done, total int)) error {
	s, last := fresh.stack, 0
	stop := every(ctx, lookEvery, s.lagging(func(done, total int) {
		last = total
		progress(done, total)
	}))
	serve := func() { k.serving.CompareAndSwap(old.stack, s) }
	err := k.ready(ctx, s, k.completing(s, s.Follower.WaitAll), serve)
	stop()
	if err == nil {
		progress(last, last)
	}
	return err
}

// abandon removes a generation that was not completed, and makes the one before
// the configured model's again.
func (k *Keeper) abandon(ctx context.Context, fresh *feeding, s *Stack, generation int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	fresh.end()
	k.leaves(s)
	err := errors.Join(s.dropEngines(ctx), s.Close(), k.cfg.Store.DropGeneration(ctx, s.generation.ID))
	if err == nil {
		err = k.cfg.Store.RestoreGeneration(ctx, generation)
	}
	return err
}
