package index

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"almanac/catalog"
	"almanac/retrieval/keyword"
	"almanac/retrieval/vector"
)

// lane is what follows the change log at one pace: the table with the engines
// in this process, or one engine that is apart.
type lane struct {
	name    string
	table   bool // and the passages
	keyword keyword.Engine
	vector  vector.Index

	position atomic.Int64          // change-log sequence up to which it has everything
	complete atomic.Bool           // it had everything at once, since the index was ready
	failure  atomic.Pointer[error] // of the last look; nil when it went well
	heard    atomic.Bool           // its engine has said where it is
	checked  time.Time             // when the engine last said where it is
	promoted bool                  // its engines serve this generation under the name of all
}

// promoter is an engine on a server, where a generation is built beside the
// one that serves. Promote makes it the one that does, and drops the others;
// again it does nothing.
type promoter interface {
	Promote(ctx context.Context) error
}

// batchRecords is how many changed records are indexed at once: enough to
// fill the embedder's batches, few enough that a batch of the largest records
// stays in memory.
const batchRecords = 128

// batchServed is the same where a server embeds, which takes seconds for a
// record: what a stop loses stays small.
const batchServed = 16

// The engines are made durable after a quiet time, and now and then while
// there is none, so that a crash loses little of a long first sync.
const (
	flushQuiet = 2 * time.Second
	flushBusy  = 30 * time.Second
)

// An engine that is apart is asked now and then where it is: a server can come
// back empty. One that fails is left alone for longer and longer.
const (
	checkEvery = 10 * time.Second
	retryFirst = 500 * time.Millisecond
	retryMost  = 10 * time.Second
)

// checkpoint is the least of the lane's engines.
func (l *lane) checkpoint(ctx context.Context) (at int64, err error) {
	at = 1<<63 - 1
	if l.keyword != nil {
		c, err := l.keyword.Checkpoint(ctx)
		if err != nil {
			return 0, fmt.Errorf("keyword engine: %w", err)
		}
		at = min(at, c)
	}
	if l.vector != nil {
		c, err := l.vector.Checkpoint(ctx)
		if err != nil {
			return 0, fmt.Errorf("vector engine: %w", err)
		}
		at = min(at, c)
	}
	return at, nil
}

// drive keeps a lane in step until ctx ends.
func (f *Follower) drive(ctx context.Context, l *lane) {
	tick := time.NewTicker(f.cfg.Poll)
	defer tick.Stop()
	dirty, moved, flushed := false, time.Now(), time.Now()
	pause := time.Duration(0)
	for {
		n, err := 0, f.resume(ctx, l)
		if err == nil {
			n, err = f.follow(ctx, l)
		}
		if err == nil {
			err = f.promoteLane(ctx, l)
		}
		if ctx.Err() != nil {
			return
		}
		f.note(l, err)
		if n > 0 {
			dirty, moved = true, time.Now()
		}
		if dirty && (time.Since(moved) > flushQuiet || time.Since(flushed) > flushBusy) {
			if err := f.flush(ctx, l); err != nil {
				f.cfg.Log.Error("index: flush", "engine", l.name, "error", err)
			}
			dirty, flushed = false, time.Now()
		}
		if err == nil {
			pause = 0
		} else {
			pause = min(max(2*pause, retryFirst), retryMost)
			l.checked = time.Time{} // it may have lost what it had
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// settle notes that a lane has everything. Before the index is ready that
// means nothing: the catalog is being filled.
func (f *Follower) settle(l *lane) {
	if f.Ready() && l.position.Load() >= f.head.Load() {
		l.complete.Store(true)
	}
}

// promoteLane promotes what the lane feeds, once it is asked for.
func (f *Follower) promoteLane(ctx context.Context, l *lane) error {
	if l.promoted || !f.promote.Load() || f.cfg.ReadOnly || l.position.Load() < f.head.Load() {
		return nil
	}
	for _, engine := range []any{l.keyword, l.vector} {
		if p, ok := engine.(promoter); ok {
			if err := p.Promote(ctx); err != nil {
				return fmt.Errorf("index: promote: %w", err)
			}
		}
	}
	l.promoted = true
	return nil
}

// note keeps a lane's failure, and logs it when it is another one.
func (f *Follower) note(l *lane, err error) {
	before := l.failure.Load()
	switch {
	case err == nil && before != nil:
		l.failure.Store(nil)
		f.cfg.Log.Info("index: the engine takes changes again", "engine", l.name)
	case err != nil:
		l.failure.Store(&err)
		if before == nil || (*before).Error() != err.Error() {
			f.cfg.Log.Error("index: follow change log", "engine", l.name, "error", err)
		}
	}
}

// resume finds out where an engine that is apart goes on. One that is ahead of
// the catalog, as when an older copy of that was put back, begins anew.
func (f *Follower) resume(ctx context.Context, l *lane) error {
	if l.table || time.Since(l.checked) < checkEvery {
		return nil
	}
	at, err := l.checkpoint(ctx)
	if err != nil {
		return err
	}
	if head := f.head.Load(); at > head {
		f.cfg.Log.Warn("index: the engine is ahead of the catalog and is filled anew", "engine", l.name, "checkpoint", at, "catalog", head)
		at = 0
	}
	if at < l.position.Load() {
		l.complete.Store(false)
		l.promoted = false
	}
	l.position.Store(at)
	l.heard.Store(true)
	l.checked = time.Now()
	return nil
}

// follow indexes every change there is. An engine that is apart stays behind
// the table: a candidate that an engine names must be there.
func (f *Follower) follow(ctx context.Context, l *lane) (moved int, err error) {
	limit := batchRecords
	if l.vector != nil && f.cfg.EmbedderServer {
		limit = batchServed
	}
	for {
		head, err := f.cfg.Store.LastChange(ctx)
		if err != nil {
			return moved, fmt.Errorf("index: %w", err)
		}
		f.head.Store(head)
		last := f.main.position.Load() // before the changes are read
		changes, err := f.cfg.Store.Changes(ctx, l.position.Load(), limit)
		if err != nil {
			return moved, fmt.Errorf("index: %w", err)
		}
		for !l.table && len(changes) > 0 && changes[len(changes)-1].Seq > last {
			changes = changes[:len(changes)-1]
		}
		if len(changes) == 0 {
			f.settle(l)
			return moved, nil
		}
		if err := f.apply(ctx, l, changes); err != nil {
			return moved, err
		}
		moved += len(changes)
	}
}

// apply indexes one run of changes on every consumer of the lane.
func (f *Follower) apply(ctx context.Context, l *lane, changes []catalog.Change) error {
	ids := make([]int64, len(changes))
	for i, c := range changes {
		ids[i] = c.Record
	}
	records, err := f.cfg.Store.Records(ctx, ids)
	if err != nil {
		return fmt.Errorf("index: read records: %w", err)
	}
	checkpoint := changes[len(changes)-1].Seq
	cuts := cutAll(records)
	gone := missing(ids, records)
	if l.vector != nil {
		if err := f.embedAll(ctx, cuts); err != nil {
			return err
		}
	}
	if l.table {
		if err := f.store(ctx, cuts, gone, checkpoint); err != nil {
			return err
		}
		documents := make([]*Document, len(cuts))
		for i, c := range cuts {
			documents[i] = newDocument(c.record, c.packed)
		}
		f.table.apply(documents, gone)
	}
	if l.keyword != nil {
		b := keyword.Batch{Delete: gone, Checkpoint: checkpoint}
		for _, c := range cuts {
			b.Records = append(b.Records, c.keyword)
		}
		if err := l.keyword.Apply(ctx, b); err != nil {
			return fmt.Errorf("index: keyword engine: %w", err)
		}
	}
	if l.vector != nil {
		b := vector.Batch{Delete: gone, After: l.position.Load(), Checkpoint: checkpoint}
		for _, c := range cuts {
			b.Records = append(b.Records, c.vector())
		}
		if err := l.vector.Apply(ctx, b); err != nil {
			return fmt.Errorf("index: vector engine: %w", err)
		}
	}
	l.position.Store(checkpoint)
	return nil
}

// flush makes the lane's engines durable.
func (f *Follower) flush(ctx context.Context, l *lane) error {
	if f.cfg.ReadOnly {
		return nil
	}
	var errs []error
	if l.keyword != nil {
		errs = append(errs, l.keyword.Flush(ctx))
	}
	if l.vector != nil {
		errs = append(errs, l.vector.Flush(ctx))
	}
	return errors.Join(errs...)
}

func missing(ids []int64, records []catalog.Record) []int64 {
	live := make(map[int64]bool, len(records))
	for _, r := range records {
		live[r.ID] = true
	}
	var gone []int64
	for _, id := range ids {
		if !live[id] {
			gone = append(gone, id)
		}
	}
	return gone
}
