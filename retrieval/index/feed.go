package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"

	"almanac/catalog"
	"almanac/retrieval/keyword"
	"almanac/retrieval/trace"
	"almanac/retrieval/vector"
)

// feed is a consumer of the change log with its own position: the corpus with
// the engines in this process, or one engine that is fed separately.
type feed struct {
	name    string
	corpus  bool // and the passages table
	keyword keyword.Engine
	vector  vector.Index

	position atomic.Int64          // change-log sequence up to which it has everything
	lag      atomic.Int64          // changes after that
	counted  int64                 // newest sequence when they were counted
	done     atomic.Int64          // changes taken since Load
	complete atomic.Bool           // it has held everything since the index was ready
	failure  atomic.Pointer[error] // of the last attempt; nil if it succeeded
	heard    atomic.Bool           // its engine has reported a checkpoint
	checked  time.Time             // when the engine last reported a checkpoint
	promoted bool                  // its engines serve this generation
	refused  atomic.Int64          // passages whose text the model refused
	embedded atomic.Int64          // passages that got vectors since Load

	dirty          bool      // its engines have changes that are not durable
	failed         bool      // the last attempt to make them durable did
	moved, flushed time.Time // last change, last attempt
}

// promoter is an engine on a server, where a generation is built next to the
// one that serves. Promote makes it the serving one and drops the others;
// promoting again does nothing.
type promoter interface {
	Promote(ctx context.Context) error
}

// batchRecords is how many changed records are indexed at once: enough to
// fill the embedder's batches, few enough that a batch of the largest records
// stays in memory.
const batchRecords = 128

// batchServed is the same if a server embeds, which takes seconds per record: a stop loses little.
const batchServed = 16

// A separate engine is queried for its checkpoint from time to time: a server
// can come back empty. One that fails is retried with growing pauses.
const (
	checkEvery = 10 * time.Second
	retryFirst = 500 * time.Millisecond
	retryMost  = 10 * time.Second
)

// checkpoints returns those of its engines.
func (fd *feed) checkpoints(ctx context.Context) (all []int64, err error) {
	if fd.keyword != nil {
		at, err := fd.keyword.Checkpoint(ctx)
		if err != nil {
			return nil, fmt.Errorf("keyword engine: %w", err)
		}
		all = append(all, at)
	}
	if fd.vector != nil {
		at, err := fd.vector.Checkpoint(ctx)
		if err != nil {
			return nil, fmt.Errorf("vector engine: %w", err)
		}
		all = append(all, at)
	}
	return all, nil
}

// drive keeps a feed up to date until ctx ends.
func (f *Follower) drive(ctx context.Context, fd *feed) {
	tick := time.NewTicker(f.cfg.Poll)
	defer tick.Stop()
	pause := time.Duration(0)
	for {
		err := f.resume(ctx, fd)
		if err == nil {
			_, err = f.follow(ctx, fd)
		}
		if err == nil {
			err = f.promoteFeed(ctx, fd)
		}
		if ctx.Err() != nil {
			return
		}
		f.recordFailure(fd, err)
		if fd.dirty && time.Since(fd.moved) > flushQuiet {
			f.tryFlush(ctx, fd)
		}
		if err == nil {
			pause = 0
		} else {
			pause = min(max(2*pause, retryFirst), retryMost)
			fd.checked = time.Time{} // its engine may have lost what it held
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

// settle records that a feed holds everything. Before the index is ready this says
// nothing: the catalog is still being filled.
func (f *Follower) settle(fd *feed) {
	if f.Ready() && fd.position.Load() >= f.head.Load() {
		fd.complete.Store(true)
	}
}

// promoteFeed promotes the feed's engines, once that is requested.
func (f *Follower) promoteFeed(ctx context.Context, fd *feed) error {
	if fd.promoted || !f.promote.Load() || f.cfg.ReadOnly || fd.position.Load() < f.head.Load() {
		return nil
	}
	for _, engine := range []any{fd.keyword, fd.vector} {
		if p, ok := engine.(promoter); ok {
			if err := p.Promote(ctx); err != nil {
				return fmt.Errorf("index: promote: %w", err)
			}
		}
	}
	fd.promoted = true
	return nil
}

// recordFailure keeps a feed's failure, and logs it if it is a new one. That the catalog
// failed says nothing of a separate engine.
func (f *Follower) recordFailure(fd *feed, err error) {
	if !fd.corpus && catalog.Failed(err) {
		return
	}
	before := fd.failure.Load()
	switch {
	case err == nil && before != nil:
		fd.failure.Store(nil)
		f.cfg.Log.Info("the engine takes changes again", "engine", fd.name)
	case err != nil:
		fd.failure.Store(&err)
		if before == nil || (*before).Error() != err.Error() {
			f.cfg.Log.Error("follow change log", "engine", fd.name, "error", err)
		}
	}
}

// resume finds out where a separate engine continues. One that is ahead of the
// catalog, as after an older copy of the catalog was restored, starts again.
func (f *Follower) resume(ctx context.Context, fd *feed) error {
	if fd.corpus || time.Since(fd.checked) < checkEvery {
		return nil
	}
	all, err := fd.checkpoints(ctx)
	if err != nil {
		return err
	}
	at := slices.Min(all) // a separate feed has an engine
	if have := max(f.stored.Load(), f.local.position.Load()); at > have {
		f.cfg.Log.Warn("the engine is ahead of the catalog and is filled again", "engine", fd.name,
			"checkpoint", at, "catalog", have)
		at = 0
	}
	if at < fd.position.Load() {
		fd.complete.Store(false)
		fd.promoted = false
	}
	if at != fd.position.Swap(at) {
		fd.counted = -1
	}
	fd.heard.Store(true)
	fd.checked = time.Now()
	return nil
}

// follow indexes all changes. A separate engine stays behind the corpus, which
// must have every record that an engine finds.
func (f *Follower) follow(ctx context.Context, fd *feed) (moved int, err error) {
	limit := batchRecords
	if fd.vector != nil && f.cfg.EmbedderServer {
		limit = batchServed
	}
	switch {
	case fd.corpus && f.cfg.Stored:
		moved, err := f.take(ctx)
		if err != nil || f.cfg.ReadOnly {
			return moved, err
		}
	case fd.corpus && f.cfg.ReadOnly:
		if err := f.release(ctx); err != nil {
			return 0, err
		}
	}
	for {
		if err := f.look(ctx, fd); err != nil {
			return moved, fmt.Errorf("index: %w", err)
		}
		last := f.local.position.Load() // before the changes are read
		if f.cfg.Yield != nil && last < f.head.Load() && !fd.corpus {
			return moved, nil // one core at a time, and words first
		}
		changes, err := f.cfg.Store.Changes(ctx, fd.position.Load(), limit)
		if err != nil {
			return moved, fmt.Errorf("index: %w", err)
		}
		for !fd.corpus && len(changes) > 0 && changes[len(changes)-1].Seq > last {
			changes = changes[:len(changes)-1]
		}
		if len(changes) == 0 {
			f.settle(fd)
			return moved, nil
		}
		if err := f.apply(ctx, fd, changes); err != nil {
			return moved, err
		}
		moved += len(changes)
		if time.Since(fd.flushed) > flushBusy {
			f.tryFlush(ctx, fd)
		}
	}
}

// look reads how far the change log has grown and counts the changes that are still to
// be taken.
func (f *Follower) look(ctx context.Context, fd *feed) error {
	head, err := f.cfg.Store.LastChange(ctx)
	if err != nil {
		return err
	}
	if fd.corpus {
		f.pace.look(fd.position.Load(), head, f.cfg.Now())
	}
	if f.head.Store(head); head == fd.counted {
		return nil
	}
	n, err := f.cfg.Store.CountChanges(ctx, fd.position.Load())
	if err != nil {
		return err
	}
	fd.lag.Store(int64(n))
	fd.counted = head
	return nil
}

// apply indexes a batch of changes in the feed's corpus and engines.
func (f *Follower) apply(ctx context.Context, fd *feed, changes []catalog.Change) (err error) {
	ctx, s := otel.Tracer("almanac").Start(ctx, "index")
	s.SetAttributes(attribute.Int("changes", len(changes)))
	defer func() { trace.End(s, err) }()
	ids := make([]int64, len(changes))
	for i, c := range changes {
		ids[i] = c.Record
	}
	records, err := f.cfg.Store.Records(ctx, ids)
	if err != nil {
		return fmt.Errorf("index: read records: %w", err)
	}
	records = slices.DeleteFunc(records, isPicture)
	checkpoint := changes[len(changes)-1].Seq
	all, err := f.analyseAll(ctx, records)
	if err != nil {
		return err
	}
	gone := missing(ids, records)
	if fd.vector != nil {
		if err := f.embedAll(ctx, fd, all); err != nil {
			return err
		}
	}
	if fd.corpus {
		if err := f.store(ctx, all, gone, checkpoint); err != nil {
			return err
		}
	}
	if fd.keyword != nil {
		b := keyword.Batch{Delete: gone, Checkpoint: checkpoint}
		for _, a := range all {
			b.Records = append(b.Records, a.keyword)
		}
		called, s := trace.Call(ctx, "keyword", f.cfg.KeywordServer)
		err := fd.keyword.Apply(called, b)
		if trace.End(s, err); err != nil {
			return fmt.Errorf("index: keyword engine: %w", err)
		}
	}
	if fd.vector != nil {
		b := vector.Batch{Delete: gone, After: fd.position.Load(), Checkpoint: checkpoint}
		for _, a := range all {
			b.Records = append(b.Records, a.vector())
		}
		called, s := trace.Call(ctx, "vector", f.cfg.VectorServer)
		err := fd.vector.Apply(called, b)
		if trace.End(s, err); err != nil {
			return fmt.Errorf("index: vector engine: %w", err)
		}
		for _, r := range b.Records {
			fd.embedded.Add(int64(len(r.Vectors)))
		}
	}
	fd.position.Store(checkpoint)
	fd.lag.Store(max(0, fd.lag.Load()-int64(len(changes))))
	fd.done.Add(int64(len(changes)))
	fd.dirty, fd.moved = true, time.Now()
	return nil
}

// isPicture reports whether a record is a figure without text. It is shown with what it
// belongs to: by the name of its file alone it took the place of texts.
func isPicture(r catalog.Record) bool {
	return r.Kind.Role() == catalog.RoleFile && r.Category == catalog.AttachmentFigure && r.Body == ""
}

// missing returns those of ids that have no record, or none that is searched.
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

// When engines are flushed: after a quiet time, from time to time while there is
// none, so that a crash loses little of a long first sync, and again after one that
// failed.
const (
	flushQuiet = 2 * time.Second
	flushBusy  = 30 * time.Second
	flushAgain = 10 * time.Second
)

// tryFlush makes the feed's engines durable, unless that failed just now.
func (f *Follower) tryFlush(ctx context.Context, fd *feed) {
	if fd.failed && time.Since(fd.flushed) < flushAgain {
		return
	}
	err := f.flush(ctx, fd)
	if err != nil && ctx.Err() == nil {
		f.cfg.Log.Error("flush", "engine", fd.name, "error", err)
	}
	fd.failed, fd.dirty, fd.flushed = err != nil, err != nil, time.Now()
}

// flush makes the feed's engines durable.
func (f *Follower) flush(ctx context.Context, fd *feed) error {
	if f.cfg.ReadOnly {
		return nil
	}
	var errs []error
	if fd.keyword != nil {
		errs = append(errs, fd.keyword.Flush(ctx))
	}
	if fd.vector != nil {
		errs = append(errs, fd.vector.Flush(ctx))
	}
	return errors.Join(errs...)
}
