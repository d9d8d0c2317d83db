package sqlstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"almanac/catalog"
)

func isCancelled(err error) bool { return errors.Is(err, context.Canceled) }

// both runs the functions at once and returns their errors joined.
func both(list ...func() error) error {
	errs := make([]error, len(list))
	var group sync.WaitGroup
	for i, fn := range list {
		group.Go(func() { errs[i] = fn() })
	}
	group.Wait()
	return errors.Join(errs...)
}

var concurrencyPromises = []promise{
	{"writers of several goroutines lose nothing", func(f fixture) {
		var writers []func() error
		for w := range 8 {
			writers = append(writers, func() error {
				for i := range 20 {
					b := catalog.Batch{Source: fmt.Sprint("source-", w),
						Entries: entries(doc(fmt.Sprintf("%d-%d", w, i)))}
					if _, err := f.store.Apply(f.ctx, b); err != nil {
						return err
					}
				}
				return nil
			})
		}
		f.check(both(writers...))
		_, total := f.keys(catalog.ListQuery{Limit: 1})
		f.equal("total", total, 160)
		changes := f.changes(0)
		f.equal("changes", len(changes), 160)
	}},
	{"readers see whole batches while they are written", func(f fixture) {
		const size, rounds = 50, 30
		write := func() error {
			for round := range rounds {
				b := catalog.Batch{Source: "docs"}
				for i := range size {
					b.Entries = append(b.Entries, catalog.Entry{Record: with(fmt.Sprintf("%03d", i),
						func(r *catalog.Record) { r.State = fmt.Sprint(round) })})
				}
				if _, err := f.store.Apply(f.ctx, b); err != nil {
					return err
				}
			}
			return nil
		}
		done := make(chan struct{})
		read := func() error {
			for {
				select {
				case <-done:
					return nil
				default:
				}
				list, total, err := f.store.List(f.ctx, catalog.ListQuery{Limit: size})
				if err != nil {
					return err
				}
				if total != len(list) || total != 0 && total != size {
					return fmt.Errorf("%d of %d records", len(list), total)
				}
				for _, r := range list {
					if r.State != list[0].State {
						return fmt.Errorf("states %s and %s in one list", r.State, list[0].State)
					}
				}
			}
		}
		f.check(both(func() error { defer close(done); return write() }, read, read, read))
	}},
	{"a generation opened by many is one", func(f fixture) {
		var openers []func() error
		ids := make([]int64, 8)
		for i := range ids {
			openers = append(openers, func() error {
				g, err := f.store.OpenGeneration(f.ctx, "shared")
				ids[i] = g.ID
				return err
			})
		}
		f.check(both(openers...))
		for _, id := range ids {
			f.equal("generation", id, ids[0])
		}
	}},
	{"a write cancelled midway leaves nothing", func(f fixture) {
		var records []catalog.Record
		for i := range 500 {
			records = append(records, doc(fmt.Sprintf("%03d", i)))
		}
		for _, after := range []int64{2, 50, 250} {
			inner, cancel := context.WithCancel(f.ctx)
			defer cancel()
			ctx := &countdown{Context: inner, cancel: cancel}
			ctx.left.Store(after)
			if _, err := f.store.Apply(ctx, catalog.Batch{Source: "docs", Entries: entries(records...)}); err == nil {
				if ctx.left.Load() <= 0 {
					f.Fatalf("no error, although the context ended")
				}
				continue // the store checks its context less often
			} else if !isCancelled(err) {
				f.Fatalf("error is %v", err)
			}
			f.lists(catalog.ListQuery{})
			f.equal("changes", len(f.changes(0)), 0)
		}
		f.put("docs", doc("after"))
	}},
}

// countdown is a context that ends after it was checked a number of times.
type countdown struct {
	context.Context
	left   atomic.Int64
	cancel func()
}

func (c *countdown) Err() error {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
	return c.Context.Err()
}
