// Package embedded is the keyword engine inside the binary: an inverted index
// in memory, ranked by BM25F, with a snapshot on disk.
//
// The index is a list of immutable segments, each with the set of its records
// that are deleted, behind one atomic pointer: a search reads one such searcher
// from beginning to end and takes no lock, a batch builds the next one and swaps
// it in whole. Segments are merged as their number grows (see mergePolicy).
//
// A segment is stored as it is searched, in a file of its own: a start reads,
// checks and derives next to nothing, and a flush writes the segments that are
// new and the deletions that changed. It has no positions: the searcher has
// every record's tokens in memory and decides phrases (see keyword.Query).
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
	"almanac/retrieval/snapshot"
)

// Config says where an engine keeps its index and how it ranks.
type Config struct {
	// Path is the directory of the snapshot; "" keeps the index in memory only.
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
	scoring  [2]Scoring
	log      *slog.Logger
	searcher atomic.Pointer[searcher] // nil when closed

	writing sync.Mutex      // held by Apply, Flush and Close; guards what follows
	store   *snapshot.Store // nil: Flush writes nothing
	written                 // by the last flush
}

var _ keyword.Engine = (*Engine)(nil)

// Open reads the snapshot at the path. If it is missing, damaged, of another
// version or scoring, the index is empty with checkpoint 0, to be filled again,
// and the reason is logged.
func Open(c Config) (*Engine, error) {
	e := &Engine{scoring: c.Scoring, log: c.Log}
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
	e.written = written{searcher: newSearcher(nil, 0)}
	if c.Path != "" {
		if err := e.load(c.Path); err != nil {
			return nil, fmt.Errorf("keyword: %w", err)
		}
		if !c.ReadOnly {
			var err error
			if e.store, err = snapshot.NewStore(c.Path, format); err != nil {
				return nil, fmt.Errorf("keyword: %w", err)
			}
		}
	}
	e.searcher.Store(e.written.searcher)
	return e, nil
}

// Checkpoint implements keyword.Engine.
func (e *Engine) Checkpoint(context.Context) (int64, error) {
	if s := e.searcher.Load(); s != nil {
		return s.checkpoint, nil
	}
	return 0, nil
}

// Close releases the index. Changes that were not flushed are lost.
func (e *Engine) Close() error {
	e.writing.Lock()
	defer e.writing.Unlock()
	e.searcher.Store(nil)
	e.written = written{}
	return nil
}

// Apply implements keyword.Engine. Of a record that is in a batch several times
// the last one counts; one that is also deleted is deleted. On an error nothing
// of the batch is applied. Searches see the batch before segments are merged.
func (e *Engine) Apply(ctx context.Context, b keyword.Batch) error {
	e.writing.Lock()
	defer e.writing.Unlock()
	s := e.searcher.Load()
	if s == nil {
		return errClosed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("keyword: apply: %w", err)
	}
	records, replaced := distinct(b)
	readers := make([]*segmentReader, 0, len(s.readers)+1)
	for _, r := range s.readers {
		readers = append(readers, r.without(replaced))
	}
	if len(records) > 0 {
		seg, err := build(records, &e.scoring)
		if err != nil {
			return fmt.Errorf("keyword: apply: %w", err)
		}
		readers = append(readers, newReader(seg))
	}
	s = newSearcher(readers, b.Checkpoint)
	e.searcher.Store(s)
	e.merge(s)
	return nil
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

// merge joins segments as the policy says.
func (e *Engine) merge(s *searcher) {
	for {
		sizes := make([]segmentSize, len(s.readers))
		for i, r := range s.readers {
			sizes[i] = r.size()
		}
		chosen := mergePolicy(sizes)
		if chosen == nil {
			return
		}
		var left, sources []*segmentReader
		for i, r := range s.readers {
			if slices.Contains(chosen, i) {
				sources = append(sources, r)
			} else {
				left = append(left, r)
			}
		}
		s = newSearcher(append(left, newReader(merge(sources, &e.scoring))), s.checkpoint)
		e.searcher.Store(s)
	}
}
