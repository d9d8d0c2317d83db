package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/mention"
	"almanac/catalog/network"
	"almanac/ingest/privacy"
	"almanac/text/visible"
)

// A batch is written when it reaches this many entries or bytes: large enough
// that transactions do not dominate, small enough for memory and for readers.
const (
	batchEntries = 500
	batchBytes   = 4 << 20
)

// A complete run that would remove more than a fifth of a source's records
// fails, if the source has enough of them for the share to be meaningful and the
// network file reads it as it did.
const (
	guardFrom  = 10
	guardShare = 5
)

// run is one run of one source. It is the Sink of the run's connector, which
// calls it from one goroutine.
type run struct {
	*Pipeline
	src    network.Source
	over   []string // the sources whose records it takes over
	log    *slog.Logger
	began  time.Time
	state  catalog.SourceState
	before []byte // what the run before left for this one
	dir    string // the source's working directory
	people privacy.People
	guard  *guard
	live   map[catalog.Ref]int64 // the source's records before the run

	after   []byte               // what a good run leaves for the next one
	put     map[catalog.Ref]bool // put in this run: true good, false bad
	seen    map[catalog.Ref]bool // known to exist upstream: put, kept or bad
	skipped []string             // locators of items that could not be read

	batch     catalog.Batch
	bytes     int
	snapshots []catalog.Snapshot
	report    Report
}

// Begin implements Sink.
func (r *run) Begin(content []byte) error { return r.guard.begin(content) }

// Put implements Sink.
func (r *run) Put(ctx context.Context, e catalog.Entry) error {
	err := r.add(ctx, e)
	r.guard.end() // not if it panics
	return err
}

func (r *run) add(ctx context.Context, e catalog.Entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ref := e.Record.Ref()
	if err := checkRef(ref); err != nil {
		r.Skip(locator(e.Record), err)
		return nil
	}
	if _, twice := r.put[ref]; twice {
		r.Skip(locator(e.Record), fmt.Errorf("the source has %s twice; the first is kept", ref))
		return nil
	}
	r.Keep(ref)
	entry, err := r.prepare(ctx, e)
	if errors.Is(err, errStore) {
		return err
	}
	if r.put == nil {
		r.put = map[catalog.Ref]bool{}
	}
	if r.put[ref] = err == nil; err != nil {
		r.Skip(locator(e.Record), err)
		return nil
	}
	r.batch.Entries = append(r.batch.Entries, entry)
	r.bytes += size(entry)
	return r.flushFull(ctx)
}

// Events implements Sink.
func (r *run) Events(ctx context.Context, events []catalog.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(events) == 0 {
		return nil
	}
	at := events[0].Ref.String()
	good := r.checker(at).events(events)
	for i := range good {
		good[i].Subject = privacy.Mask(good[i].Subject)
		r.bytes += len(good[i].Subject) + len(good[i].URL)
	}
	r.batch.Events = append(r.batch.Events, good...)
	return r.flushFull(ctx)
}

// Snapshot implements Sink.
func (r *run) Snapshot(s catalog.Snapshot) {
	s.Data = privacy.VisibleData(s.Data)
	r.snapshots = append(r.snapshots, s)
}

// Keep implements Sink.
func (r *run) Keep(ref catalog.Ref) {
	if r.seen == nil {
		r.seen = map[catalog.Ref]bool{}
	}
	r.seen[ref] = true
}

// Skip implements Sink.
func (r *run) Skip(locator string, err error) {
	r.guard.end()
	r.report.Skipped++
	if !errors.Is(err, ErrNoItem) {
		r.skipped = append(r.skipped, locator)
	}
	r.problem(Problem{Locator: locator, Message: err.Error(), Skipped: true}, r.report.Skipped)
}

// Warn implements Sink.
func (r *run) Warn(locator, message string) {
	r.report.Warned++
	r.problem(Problem{Locator: locator, Message: message}, r.report.Warned)
}

// Progress implements Sink.
func (r *run) Progress(done, total int) { r.config.Progress.Progress(r.src.Name, done, total) }

// problem keeps and logs the nth problem of its kind.
func (r *run) problem(p Problem, n int) {
	p.Locator, p.Message = visible.Text(p.Locator), privacy.Mask(visible.Text(p.Message))
	switch {
	case n <= maxProblems:
		r.report.Problems = append(r.report.Problems, p)
		r.log.Warn(p.Message, "at", p.Locator, "skipped", p.Skipped)
	case n == maxProblems+1:
		r.log.Warn("further problems of this run are counted but not logged", "skipped", p.Skipped)
	}
}

func (r *run) checker(locator string) checker {
	return checker{now: r.config.Now(), warn: func(message string) { r.Warn(locator, message) }}
}

// locator names an entry for people: its file, or its reference.
func locator(r catalog.Record) string {
	if r.Path != "" {
		return r.Path
	}
	return r.Ref().String()
}

// size estimates the bytes of an entry in a batch.
func size(e catalog.Entry) int {
	n := len(e.Record.Body) + len(e.Record.Data) + len(e.Record.Summary) + 512
	for _, v := range e.Votes {
		n += len(v.Reason) + 128
	}
	return n + 256*len(e.Links)
}

// errStore: reading the catalog failed; the item is not at fault.
var errStore = errors.New("catalog")

// prepare validates an entry, hides mail addresses and adds the links of its
// text.
func (r *run) prepare(ctx context.Context, e catalog.Entry) (catalog.Entry, error) {
	e.Links, e.Votes = slices.Clone(e.Links), slices.Clone(e.Votes) // the connector's are not changed
	if e.Facts != nil {
		e.Facts = new(*e.Facts)
	}
	check := r.checker(locator(e.Record))
	if err := check.entry(&e); err != nil {
		return catalog.Entry{}, err
	}
	if err := r.parent(ctx, e); err != nil {
		return catalog.Entry{}, err
	}
	r.people.Hide(&e)
	left := mention.AddProposals(r.config.Network.Proposals, &e, maxHanging) + mention.AddReferences(&e, maxHanging)
	limit(check, "links", &e.Links, left)
	return e.Normalize()
}

// parent warns if an entry's parent is not in the catalog.
func (r *run) parent(ctx context.Context, e catalog.Entry) error {
	if e.Parent.Key == "" || r.put[e.Parent] {
		return nil
	}
	_, err := r.config.Store.Get(ctx, e.Parent)
	switch {
	case errors.Is(err, catalog.ErrNotFound):
		r.Warn(locator(e.Record), fmt.Sprintf("its parent %s is not in the catalog", e.Parent))
	case err != nil:
		return fmt.Errorf("%w: parent %s: %w", errStore, e.Parent, err)
	}
	return nil
}

func (r *run) flushFull(ctx context.Context) error {
	if len(r.batch.Entries) < batchEntries && r.bytes < batchBytes {
		return nil
	}
	return r.flush(ctx)
}

// flush writes the batch.
func (r *run) flush(ctx context.Context) error {
	b := r.batch
	b.Source, b.Over = r.src.Name, r.over
	r.batch, r.bytes = catalog.Batch{}, 0
	return r.apply(ctx, b)
}

// apply writes a batch. If the store rejects one of its entries, the batch is
// halved until that entry is alone and can be skipped; the cursor stays with
// the last part.
func (r *run) apply(ctx context.Context, b catalog.Batch) error {
	if len(b.Entries) == 0 && len(b.Events) == 0 && len(b.Delete) == 0 && b.Cursor == nil {
		return nil
	}
	result, err := r.config.Store.Apply(ctx, b)
	if err == nil {
		r.count(result)
		return nil
	}
	if len(b.Entries) == 0 || !refusedItem(err) {
		return fmt.Errorf("write: %w", err)
	}
	if len(b.Entries) == 1 {
		r.Skip(locator(b.Entries[0].Record), err)
		b.Entries = nil
		return r.apply(ctx, b)
	}
	half := len(b.Entries) / 2
	if err := r.apply(ctx, catalog.Batch{Source: b.Source, Over: b.Over, Entries: b.Entries[:half]}); err != nil {
		return err
	}
	b.Entries = b.Entries[half:]
	return r.apply(ctx, b)
}

// refusedItem reports whether the store's error is about the written entry and
// not about the store.
func refusedItem(err error) bool {
	return errors.Is(err, catalog.ErrBadEntry) || errors.Is(err, catalog.ErrNotFound) ||
		errors.Is(err, catalog.ErrConflict)
}

func (r *run) count(n catalog.Result) {
	r.report.Created += n.Created
	r.report.Updated += n.Updated
	r.report.Unchanged += n.Unchanged
	r.report.Foreign += n.Foreign
	r.report.Deleted += n.Deleted
}

// finish writes the last batch with the tombstones and the cursor, in one
// transaction.
func (r *run) finish(ctx context.Context, o Outcome) error {
	r.report.Complete = o.Complete
	vanished := r.gone(o.Gone)
	if o.Complete {
		var err error
		if vanished, err = r.vanished(ctx); err != nil {
			return err
		}
	}
	// Who changes what is read of a source means it, unless nothing is read any more.
	meant := r.config.AcceptShrink || r.state.Settings != "" && r.state.Settings != r.settings(r.src) && len(r.seen) > 0
	if had, lost := len(r.live), len(vanished); had >= guardFrom && lost*guardShare > had && !meant {
		shrunk := fmt.Errorf("%w: %d of its %d records are gone upstream; nothing was removed. "+
			"If that is right, run `almanac sync --accept-shrink %s`", ErrShrunk, lost, had, r.src.Name)
		return errors.Join(shrunk, r.flush(ctx))
	}
	r.batch.Delete = vanished
	if r.before == nil || !bytes.Equal(r.before, r.after) {
		cursor, state, err := pack(r.after)
		if err != nil {
			return err
		}
		r.batch.Cursor, r.batch.State = &cursor, state
	}
	if err := r.flush(ctx); err != nil {
		return err
	}
	return r.capture(ctx)
}

// capture stores the snapshots of the run that differ from the newest of their
// series, and those of a time before the run, which are history. It runs after
// the last batch: a crash in between only delays the snapshots to the next run.
func (r *run) capture(ctx context.Context) error {
	for _, s := range r.snapshots {
		newest, err := r.config.Store.Snapshots(ctx, s.Series, 1)
		if err != nil {
			return fmt.Errorf("snapshots of %s: %w", s.Series, err)
		}
		if len(newest) > 0 && bytes.Equal(newest[0].Data, s.Data) && !s.CapturedAt.Before(r.began) {
			continue
		}
		if err := r.config.Store.PutSnapshot(ctx, s); err != nil {
			return fmt.Errorf("snapshot of %s: %w", s.Series, err)
		}
	}
	return nil
}

// gone returns the ids of the source's records that its connector reports gone.
func (r *run) gone(refs []catalog.Ref) []int64 {
	var ids []int64
	for _, ref := range refs {
		if id, ok := r.live[ref]; ok && !r.seen[ref] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// vanished returns the ids of the source's records that a complete run did not
// see. A record whose file could not be read has not vanished.
func (r *run) vanished(ctx context.Context) ([]int64, error) {
	var gone []int64
	for ref, id := range r.live {
		if !r.seen[ref] {
			gone = append(gone, id)
		}
	}
	slices.Sort(gone)
	if len(r.skipped) == 0 {
		return gone, nil
	}
	unreadable := map[int64]bool{}
	for ids := range slices.Chunk(gone, batchEntries) {
		records, err := r.config.Store.Records(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("vanished records: %w", err)
		}
		for _, rec := range records {
			unreadable[rec.ID] = r.couldNotRead(rec)
		}
	}
	return slices.DeleteFunc(gone, func(id int64) bool { return unreadable[id] }), nil
}

// couldNotRead reports whether a skipped locator names the record: by its path,
// key or reference, alone or followed by a position in it (":12", "#part"), or by a
// directory above it.
func (r *run) couldNotRead(rec catalog.Record) bool {
	return slices.ContainsFunc(r.skipped, func(locator string) bool {
		for _, name := range []string{rec.Path, rec.Key, rec.Ref().String()} {
			rest, ok := strings.CutPrefix(locator, name)
			if strings.HasPrefix(name, locator+"/") || ok && name != "" && (rest == "" || strings.ContainsAny(rest[:1], ":# ")) {
				return true
			}
		}
		return false
	})
}

// Progress receives the progress of runs. Sources that run concurrently call
// it from several goroutines.
type Progress interface {
	Start(source string)
	// Progress reports how much of a source is done; total 0 = unknown.
	Progress(source string, done, total int)
	Done(report Report)
}

// silent is the Progress of a pipeline without one: the log has the results.
type silent struct{}

func (silent) Start(string)              {}
func (silent) Progress(string, int, int) {}
func (silent) Done(Report)               {}
