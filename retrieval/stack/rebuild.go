package stack

import (
	"context"
	"errors"
	"slices"
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
func (k *Keeper) replace(ctx context.Context, old, fresh *writing, progress func(done, total int)) error {
	watched, stop := context.WithCancel(ctx)
	defer stop()
	var total int64
	look := func() {
		lag, _ := fresh.stack.Follower.Lag()
		total = max(total, lag)
		progress(int(total-lag), int(total))
	}
	look()
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		for sleep(watched, lookEvery) {
			look()
		}
	}()
	s := fresh.stack
	serve := func() { k.serving.CompareAndSwap(old.stack, s) }
	if err := k.ready(ctx, s, k.completing(s, s.Follower.WaitAll), serve); err != nil {
		return err
	}
	stop()
	<-watching
	progress(int(total), int(total))
	return nil
}

// abandon removes a generation that was not completed, and makes the one before
// the configured model's again.
func (k *Keeper) abandon(ctx context.Context, fresh *writing, s *Stack, generation int64) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	fresh.end()
	k.mu.Lock()
	k.opened = slices.DeleteFunc(k.opened, func(o *Stack) bool { return o == s })
	k.mu.Unlock()
	var errs []error
	for _, engine := range []any{s.engines.Keyword, s.engines.Vector} {
		if d, ok := engine.(interface{ Drop(context.Context) error }); ok {
			errs = append(errs, d.Drop(ctx))
		}
	}
	err := errors.Join(errors.Join(errs...), s.Close(), k.cfg.Store.DropGeneration(ctx, s.generation.ID))
	if err == nil {
		err = k.cfg.Store.RestoreGeneration(ctx, generation)
	}
	return err
}
