// Package embedded is the keyword engine inside the binary: an inverted index
// in memory, ranked by BM25F, with a snapshot on disk.
//
// The index is a list of immutable segments, each with the set of its records
// that are deleted, behind one atomic pointer: a search reads one such state
// from beginning to end and takes no lock, a batch builds the next state and
// swaps it in whole. Segments are merged as their number grows (see mergeable).
//
// A segment is stored, in memory and in the snapshot, as its vocabulary and its
// tokens in reading order (see forward); the posting lists of both units are
// derived from those when a segment is made or loaded. So phrases need no
// positions in the lists, merging and loading use the same code as indexing,
// and a change of Scoring needs no new snapshot.
//
// Document frequencies, lengths and counts are always those of the live
// documents: scores do not depend on the order of batches and merges.
package embedded

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"almanac/retrieval/keyword"
)

// Config says where an engine keeps its index and how it ranks.
type Config struct {
	// Path is the snapshot file; "" keeps the index in memory only.
	Path string
	// Scoring is by keyword.Unit; the zero value means DefaultScoring of the unit.
	Scoring [2]Scoring
	// Log gets a message about a snapshot that cannot be used; nil: no log.
	Log *slog.Logger
	// ReadOnly opens the snapshot of another process: batches are applied in
	// memory, Flush does nothing.
	ReadOnly bool
}

// Engine is a keyword.Engine in memory.
type Engine struct {
	path     string
	scoring  [2]Scoring
	log      *slog.Logger
	readOnly bool

	state atomic.Pointer[state] // nil when closed

	writing sync.Mutex // held by Apply, Flush and Close; guards flushed
	flushed *state     // the state in the snapshot
}

var _ keyword.Engine = (*Engine)(nil)

// Open reads the snapshot at the path. If it is missing, of another version,
// truncated or corrupt, the index is empty with checkpoint 0, to be filled
// again, and the reason is logged.
func Open(c Config) (*Engine, error) {
	e := &Engine{path: c.Path, scoring: c.Scoring, log: c.Log, readOnly: c.ReadOnly}
	if e.log == nil {
		e.log = slog.New(slog.DiscardHandler)
	}
	for u := range e.scoring {
		if e.scoring[u] == (Scoring{}) {
			e.scoring[u] = DefaultScoring(keyword.Unit(u))
		}
		if err := e.scoring[u].validate(); err != nil {
			return nil, fmt.Errorf("keyword: scoring of unit %d: %w", u, err)
		}
	}
	s := newState(nil, 0)
	if e.path != "" {
		loaded, err := e.load()
		switch {
		case err != nil:
			e.log.Warn("snapshot not used, the index starts empty", "path", e.path, "error", err)
		case loaded != nil:
			s = loaded
		}
	}
	e.flushed = s
	e.state.Store(s)
	return e, nil
}

// Checkpoint implements keyword.Engine.
func (e *Engine) Checkpoint(context.Context) (int64, error) {
	if s := e.state.Load(); s != nil {
		return s.checkpoint, nil
	}
	return 0, nil
}

// Close releases the index. Changes that were not flushed are lost.
func (e *Engine) Close() error {
	e.writing.Lock()
	defer e.writing.Unlock()
	e.state.Store(nil)
	e.flushed = nil
	return nil
}

// Apply implements keyword.Engine. Of a record that is in a batch several times
// the last one counts; one that is also deleted is deleted. On an error nothing
// of the batch is applied.
func (e *Engine) Apply(ctx context.Context, b keyword.Batch) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	s := e.state.Load()
	if s == nil {
		return errClosed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("keyword: apply: %w", err)
	}
	records, replaced := distinct(b)
	parts := make([]*part, 0, len(s.parts)+1)
	for _, p := range s.parts {
		parts = append(parts, p.without(replaced))
	}
	if len(records) > 0 {
		f, err := build(records)
		if err != nil {
			return fmt.Errorf("keyword: apply: %w", err)
		}
		seg, err := newSegment(f, &e.scoring)
		if err != nil {
			return fmt.Errorf("keyword: apply: %w", err)
		}
		parts = append(parts, newPart(seg))
	}
	s = newState(parts, b.Checkpoint)
	e.state.Store(s)
	return e.merge(s)
}

// distinct returns the batch's records by id and the ids of all records that
// it replaces or deletes, ascending.
func distinct(b keyword.Batch) ([]*keyword.Record, []int64) {
	last := make(map[int64]*keyword.Record, len(b.Records))
	for i := range b.Records {
		last[b.Records[i].ID] = &b.Records[i]
	}
	ids := make([]int64, 0, len(last)+len(b.Delete))
	for id := range last {
		ids = append(ids, id)
	}
	ids = append(ids, b.Delete...)
	for _, id := range b.Delete {
		delete(last, id)
	}
	records := make([]*keyword.Record, 0, len(last))
	for _, r := range last {
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b *keyword.Record) int { return cmp.Compare(a.ID, b.ID) })
	slices.Sort(ids)
	return records, slices.Compact(ids)
}

// merge joins segments until none is mergeable. Searches see the batch before it begins.
func (e *Engine) merge(s *state) error {
	for {
		chosen := mergeable(s.parts)
		if chosen == nil {
			return nil
		}
		var parts []*part
		var sources []mergeSource
		for i, p := range s.parts {
			if slices.Contains(chosen, i) {
				sources = append(sources, mergeSource{p.seg.forward, p.live[keyword.Documents]})
			} else {
				parts = append(parts, p)
			}
		}
		merged, err := merge(sources)
		if err != nil {
			return fmt.Errorf("keyword: merge: %w", err)
		}
		seg, err := newSegment(merged, &e.scoring)
		if err != nil {
			return fmt.Errorf("keyword: merge: %w", err)
		}
		s = newState(append(parts, newPart(seg)), s.checkpoint)
		e.state.Store(s)
	}
}
