package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"almanac/catalog"
	"almanac/embed"
	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

// Fingerprint identifies everything that passages and vectors depend on: a
// change of any starts a new generation of the index.
func Fingerprint(model string) string {
	return "analysis " + analysis.Version + ", passages " + passage.Version + ", model " + model
}

// Config is what a Follower works with.
type Config struct {
	Store      Store
	Generation catalog.Generation
	Keyword    keyword.Engine
	Vector     vector.Index
	Embedder   embed.Embedder
	// ReadOnly follows the change log in memory and leaves the passages table
	// to the process that writes the index.
	ReadOnly bool
	// Poll is how often the change log is looked at; default 300 ms.
	Poll time.Duration
	Log  *slog.Logger
}

// Store is what the follower needs of the catalog.
type Store interface {
	catalog.IndexStore
	Records(ctx context.Context, ids []int64) ([]catalog.Record, error)
	List(ctx context.Context, q catalog.ListQuery) ([]catalog.Record, int, error)
}

// batchRecords is how many changed records are indexed at once: enough to
// fill the embedder's batches, few enough that a batch of the largest records
// stays in memory.
const batchRecords = 128

// The engines are made durable after a quiet time, and now and then while
// there is none, so that a crash loses little of a long first sync.
const (
	flushQuiet = 2 * time.Second
	flushBusy  = 30 * time.Second
)

// Follower keeps table and engines in step with the catalog.
type Follower struct {
	cfg   Config
	table *Table

	ready   atomic.Bool
	applied atomic.Int64 // change-log sequence up to which everything is indexed
	head    atomic.Int64 // newest sequence seen
	start   int64        // applied at the first look, for progress

	mu     sync.Mutex       // guards stored and overlay
	stored int64            // the generation's checkpoint as this process knows it
	texts  map[int64][]text // of records cut here and not stored (ReadOnly)
}

type text struct{ anchor, heading, text string }

// New returns a follower; Load must run before anything else.
func New(cfg Config) *Follower {
	if cfg.Poll == 0 {
		cfg.Poll = 300 * time.Millisecond
	}
	return &Follower{cfg: cfg, table: newTable(), texts: map[int64][]text{}}
}

// Table returns the documents and statistics.
func (f *Follower) Table() *Table { return f.table }

// Ready reports whether the index has been complete once.
func (f *Follower) Ready() bool { return f.ready.Load() }

// Lag is the number of changes that are not indexed, and the share of the
// first index that is done.
func (f *Follower) Lag() (changes int64, progress float64) {
	head, applied := f.head.Load(), f.applied.Load()
	if f.Ready() || head <= f.start {
		progress = 1
	} else {
		progress = float64(applied-f.start) / float64(head-f.start)
	}
	return max(0, head-applied), progress
}

// Load reads the passages table into memory and finds out how far behind the
// engines are: the follower goes on from the least of the three checkpoints,
// which is safe because applying a change twice is the same as once.
func (f *Follower) Load(ctx context.Context) error {
	records, _, err := f.cfg.Store.List(ctx, catalog.ListQuery{})
	if err != nil {
		return fmt.Errorf("index: list records: %w", err)
	}
	byID := make(map[int64]catalog.Record, len(records))
	for _, r := range records {
		byID[r.ID] = r
	}
	var batch []*Document
	var passages []Passage
	finish := func() {
		if len(passages) > 0 {
			if r, ok := byID[passages[0].ID.Record()]; ok {
				batch = append(batch, newDocument(r, passages))
			}
			passages = nil
		}
	}
	err = f.cfg.Store.ScanPassages(ctx, f.cfg.Generation.ID, false, func(p catalog.Passage) error {
		if len(passages) > 0 && passages[0].ID.Record() != p.Record {
			finish()
		}
		terms, err := analysis.View(p.Terms)
		if err != nil {
			return fmt.Errorf("passage %d: %w", p.ID, err)
		}
		passages = append(passages, Passage{ID: passage.ID(p.ID), Terms: terms})
		return nil
	})
	if err != nil {
		return fmt.Errorf("index: read passages: %w", err)
	}
	finish()
	f.table.apply(batch, nil)
	f.stored = f.cfg.Generation.Checkpoint
	f.start = min(f.stored, f.cfg.Keyword.Checkpoint(), f.cfg.Vector.Checkpoint())
	f.applied.Store(f.start)
	head, err := f.cfg.Store.LastChange(ctx)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	f.head.Store(head)
	return nil
}

// Run follows the change log until ctx ends, then makes the engines durable.
func (f *Follower) Run(ctx context.Context) error {
	tick := time.NewTicker(f.cfg.Poll)
	defer tick.Stop()
	dirty, moved, flushed := false, time.Now(), time.Now()
	failure := "" // as last logged
	for {
		n, err := f.follow(ctx)
		if ctx.Err() != nil {
			return f.flush(context.WithoutCancel(ctx))
		}
		if err != nil && err.Error() != failure { // not again at every look
			failure = err.Error()
			f.cfg.Log.Error("index: follow change log", "error", err)
		}
		if n > 0 {
			dirty, moved = true, time.Now()
		}
		if dirty && (time.Since(moved) > flushQuiet || time.Since(flushed) > flushBusy) {
			if err := f.flush(ctx); err != nil {
				f.cfg.Log.Error("index: flush", "error", err)
			}
			dirty, flushed = false, time.Now()
		}
		select {
		case <-ctx.Done():
			return f.flush(context.WithoutCancel(ctx))
		case <-tick.C:
		}
	}
}

func (f *Follower) flush(ctx context.Context) error {
	if f.cfg.ReadOnly {
		return nil
	}
	return errors.Join(f.cfg.Keyword.Flush(ctx), f.cfg.Vector.Flush(ctx))
}

// CatchUp indexes every change there is, makes the engines durable and returns
// the number of changes. It is for programs that do not Run.
func (f *Follower) CatchUp(ctx context.Context) (moved int, err error) {
	if moved, err = f.follow(ctx); err != nil || moved == 0 {
		return moved, err
	}
	if err := f.flush(ctx); err != nil {
		return moved, fmt.Errorf("index: flush: %w", err)
	}
	return moved, nil
}

// follow indexes every change there is.
func (f *Follower) follow(ctx context.Context) (moved int, err error) {
	for {
		head, err := f.cfg.Store.LastChange(ctx)
		if err != nil {
			return moved, fmt.Errorf("index: %w", err)
		}
		f.head.Store(head)
		changes, err := f.cfg.Store.Changes(ctx, f.applied.Load(), batchRecords)
		if err != nil {
			return moved, fmt.Errorf("index: %w", err)
		}
		if len(changes) == 0 {
			return moved, nil
		}
		if err := f.apply(ctx, changes); err != nil {
			return moved, err
		}
		moved += len(changes)
	}
}

// Wait returns when everything up to a change-log sequence is indexed; Run
// must be running.
func (f *Follower) Wait(ctx context.Context, seq int64) error {
	for f.applied.Load() < seq {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(f.cfg.Poll / 10):
		}
	}
	return nil
}

// MarkReady declares the first index complete: the caller knows when the
// first sync is over.
func (f *Follower) MarkReady() { f.ready.Store(true) }

// apply indexes one run of changes on every consumer.
func (f *Follower) apply(ctx context.Context, changes []catalog.Change) error {
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
	if err := f.embedAll(ctx, cuts); err != nil {
		return err
	}
	gone := missing(ids, records)
	if err := f.store(ctx, cuts, gone, checkpoint); err != nil {
		return err
	}
	kb := keyword.Batch{Delete: gone, Checkpoint: checkpoint}
	vb := vector.Batch{Delete: gone, Checkpoint: checkpoint}
	documents := make([]*Document, len(cuts))
	for i, c := range cuts {
		kb.Records = append(kb.Records, c.keyword)
		vb.Records = append(vb.Records, vector.Record{ID: c.record.ID, Attributes: c.keyword.Attributes, Vectors: c.vectors})
		documents[i] = newDocument(c.record, c.packed)
	}
	// The table goes first: a candidate that an engine names must be there.
	f.table.apply(documents, gone)
	if err := f.cfg.Keyword.Apply(ctx, kb); err != nil {
		return fmt.Errorf("index: keyword engine: %w", err)
	}
	if err := f.cfg.Vector.Apply(ctx, vb); err != nil {
		return fmt.Errorf("index: vector engine: %w", err)
	}
	f.applied.Store(checkpoint)
	return nil
}

// store writes the passages table, or keeps the texts in memory where another
// process writes it.
func (f *Follower) store(ctx context.Context, cuts []*cut, gone []int64, checkpoint int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if checkpoint <= f.stored {
		return nil // an engine is being rebuilt; the table has these passages
	}
	if f.cfg.ReadOnly {
		for _, c := range cuts {
			texts := make([]text, len(c.pieces))
			for i, p := range c.pieces {
				texts[i] = text{p.Anchor, p.Heading, p.Text}
			}
			f.texts[c.record.ID] = texts
		}
		return nil
	}
	rows := make([]catalog.RecordPassages, 0, len(cuts)+len(gone))
	for _, c := range cuts {
		rows = append(rows, c.stored())
	}
	for _, id := range gone {
		rows = append(rows, catalog.RecordPassages{Record: id})
	}
	if err := f.cfg.Store.PutPassages(ctx, f.cfg.Generation.ID, rows, checkpoint); err != nil {
		return fmt.Errorf("index: store passages: %w", err)
	}
	f.stored = checkpoint
	return nil
}

// Texts returns the passages with their texts, in the order of ids; one that
// is gone is zero.
func (f *Follower) Texts(ctx context.Context, ids []passage.ID) ([]catalog.Passage, error) {
	out := make([]catalog.Passage, len(ids))
	var want []int64
	at := map[int64]int{}
	f.mu.Lock()
	for i, id := range ids {
		if texts, ok := f.texts[id.Record()]; ok {
			if n := id.Ordinal(); n < len(texts) {
				out[i] = catalog.Passage{ID: int64(id), Record: id.Record(), Ordinal: n, Anchor: texts[n].anchor, Heading: texts[n].heading, Text: texts[n].text}
			}
			continue
		}
		want = append(want, int64(id))
		at[int64(id)] = i
	}
	f.mu.Unlock()
	if len(want) == 0 {
		return out, nil
	}
	found, err := f.cfg.Store.Passages(ctx, f.cfg.Generation.ID, want)
	if err != nil {
		return nil, fmt.Errorf("index: read passages: %w", err)
	}
	for _, p := range found {
		out[at[p.ID]] = p
	}
	return out, nil
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
