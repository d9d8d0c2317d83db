// Package embedded is the vector engine inside the process: it holds every
// vector in memory and scans all of them, so results depend on no graph and no
// tuning.
//
// A search has two steps. One sign bit per dimension, of the vector centred on
// the corpus mean and rotated, is compared with the query in four bit planes
// (after Gao and Long, RaBitQ, SIGMOD 2024): 32 bytes per vector of 256
// dimensions. The best are ranked by their components in 16 bits (see row.go).
// Small sets, and searches whose filter admits few vectors, are ranked so at
// once. RaBitQ's factor for each vector, which corrects the estimate for how
// well its code points its way, gained nothing here and is left out.
//
// A vector of 256 dimensions takes 0.56 KB: 56 MB for 100,000, 0.56 GB for a
// million. Removed vectors are cleared out block by block.
package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

// Config describes an index.
type Config struct {
	// Path is the directory of the snapshot; "" keeps the index in memory only.
	Path       string
	Dimensions int
	// Model names the model of the vectors: a snapshot of another is not read.
	Model string
	// ReadOnly leaves the directory to another process: Flush writes nothing.
	ReadOnly bool
	Log      *slog.Logger // default: none
}

// ErrClosed is the error of every method of a closed index.
var ErrClosed = errors.New("vector index is closed")

// Index is a vector index in memory. Searches never wait: they read the view
// that was current at their start, and a batch publishes a new one.
type Index struct {
	config  Config
	view    atomic.Pointer[view] // nil when closed
	scratch sync.Pool            // *scratch

	mu      sync.Mutex // guards what follows: one batch or flush at a time
	numbers map[passage.Words]uint32
	flushed *view // as the snapshot has it
	store   *store
}

var _ vector.Index = (*Index)(nil)

// Open reads the snapshot. If there is none, or it is damaged, of another
// format, model or dimension, the index is empty and its checkpoint 0, so that
// the follower builds it again; the reason is logged. It returns an error for a
// wrong configuration or a directory that exists and cannot be read.
func Open(c Config) (*Index, error) {
	if c.Dimensions <= 0 || c.Dimensions > maxDimensions {
		return nil, fmt.Errorf("vector index: %d dimensions, want 1 to %d", c.Dimensions, maxDimensions)
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	x := &Index{config: c, numbers: make(map[passage.Words]uint32)}
	x.scratch.New = func() any { return new(scratch) }
	v := &view{coder: newCoder(c.Dimensions)}
	if c.Path != "" {
		stored, err := x.load()
		if err != nil {
			return nil, fmt.Errorf("vector index: %w", err)
		}
		if stored != nil {
			v, x.flushed = stored, stored
		}
	}
	for i, a := range v.attributes {
		x.numbers[a] = uint32(i)
	}
	x.view.Store(v)
	return x, nil
}

// Checkpoint is the change-log sequence of the last batch; 0 for an empty index.
func (x *Index) Checkpoint(context.Context) (int64, error) {
	if v := x.view.Load(); v != nil {
		return v.checkpoint, nil
	}
	return 0, ErrClosed
}

// Size returns how many passages have a vector.
func (x *Index) Size() (passages int) {
	if v := x.view.Load(); v != nil {
		for _, e := range v.entries {
			passages += int(e.n)
		}
	}
	return passages
}

// Close releases the vectors; changes that were not flushed are lost. Running
// searches are not affected.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.view.Store(nil)
	x.flushed = nil
	return nil
}

// Flush writes the snapshot if the index has changed since the last one.
func (x *Index) Flush(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	v := x.view.Load()
	switch {
	case v == nil:
		return ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	case x.config.Path == "" || x.config.ReadOnly || v == x.flushed:
		return nil
	}
	if err := x.save(ctx, v); err != nil {
		return fmt.Errorf("vector index: flush: %w", err)
	}
	x.flushed = v
	return nil
}

// Apply applies a batch: deletions first; of a record given twice the last counts.
func (x *Index) Apply(ctx context.Context, b vector.Batch) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	v := x.view.Load()
	if v == nil {
		return ErrClosed
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if b.After > v.checkpoint {
		return fmt.Errorf("vector index: apply: changes after %d to an index of %d: %w", b.After, v.checkpoint,
			vector.ErrLost)
	}
	e := edit{view: *v}
	changes, err := x.changes(b, &e)
	if err != nil {
		return fmt.Errorf("vector index: apply: %w", err)
	}
	e.checkpoint = b.Checkpoint
	edited := make([]entry, 0, len(changes))
	for _, c := range changes {
		if ctx.Err() != nil {
			return ctx.Err() // nothing is published
		}
		if en := e.apply(c); en.n > 0 {
			edited = append(edited, en)
		}
	}
	if !e.changed && b.Checkpoint == v.checkpoint {
		return nil
	}
	if e.changed {
		e.entries = mergeEntries(v.entries, changes, edited)
		e.tidy()
	}
	next := e.view
	x.view.Store(&next)
	return nil
}

// change is the change of one record in a batch; without rows it is removed.
type change struct {
	id         int64
	date       int64
	attributes uint32
	rows       [][]int16
}

// changes checks a batch and returns its changes by record id.
func (x *Index) changes(b vector.Batch, e *edit) ([]change, error) {
	byID := make(map[int64]change, len(b.Records)+len(b.Delete))
	for _, id := range b.Delete {
		byID[id] = change{id: id}
	}
	for _, r := range b.Records {
		if len(r.Vectors) > passage.MaxPerRecord {
			return nil, fmt.Errorf("record %d: %d passages", r.ID, len(r.Vectors))
		}
		rows := make([][]int16, len(r.Vectors))
		for i, v := range r.Vectors {
			unit, err := vector.Unit(v, x.config.Dimensions)
			if err != nil {
				return nil, fmt.Errorf("record %d, passage %d: %w", r.ID, i, err)
			}
			rows[i] = rowOf(unit)
		}
		byID[r.ID] = change{id: r.ID, date: r.Attributes.UnixMicro(), attributes: x.number(r.Attributes, e),
			rows: rows}
	}
	return slices.SortedFunc(maps.Values(byID), func(a, b change) int { return cmp.Compare(a.id, b.id) }), nil
}

// number returns the index of a record's words in the table.
func (x *Index) number(a passage.Attributes, e *edit) uint32 {
	key := a.Words()
	n, ok := x.numbers[key]
	if !ok || int(n) >= len(e.attributes) || e.attributes[n] != key { // or added by a refused batch
		n = uint32(len(e.attributes))
		e.attributes = append(e.attributes, key)
		x.numbers[key] = n
	}
	return n
}
