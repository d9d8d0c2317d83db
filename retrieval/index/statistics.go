package index

import (
	"context"
	"errors"
	"fmt"

	"almanac/catalog"
	"almanac/retrieval/corpus"
)

// counted is what this process, as the writer of the index, has stored of its statistics.
type counted struct {
	follows        bool // the next change goes on from what is stored
	whole, changes int  // bytes of those of some moment, and of what came after
}

// leastChanges is how many bytes of changes are stored before the whole is stored again.
const leastChanges = 1 << 20

// counts reports whether this process stores statistics: others may leave the documents of
// this index in the catalog.
func (f *Follower) counts() bool {
	return f.cfg.KeywordServer && f.cfg.VectorServer && !f.cfg.ReadOnly
}

// put stores a batch with what it changes of the statistics: the whole of them once the
// changes are longer than that, or where it is unknown whether the last was stored.
func (f *Follower) put(ctx context.Context, b catalog.IndexBatch, change corpus.Change) error {
	c := f.counted
	switch {
	case !f.counts():
	case !c.follows || c.changes > max(c.whole, leastChanges):
		b.Whole, b.Statistics = true, f.corpus.Corpus().With(change).Whole().Encode()
		c = counted{follows: true, whole: len(b.Statistics)}
	default:
		b.Statistics = change.Encode()
		c.changes += len(b.Statistics)
	}
	f.counted.follows = false
	if err := f.cfg.Store.PutPassages(ctx, f.cfg.Generation.ID, b); err != nil {
		return fmt.Errorf("index: store passages: %w", err)
	}
	f.counted = c
	f.stored.Store(b.Checkpoint)
	return nil
}

// errUncounted is the error of a process that leaves documents in the catalog while no
// statistics are stored there.
var errUncounted = errors.New("index: the catalog has no statistics of the index: the process that writes it " +
	"stores them, if it is of this version and has its words and vectors on servers")

// take adds the statistics that were stored since: by another process, or by this one
// without its knowing.
func (f *Follower) take(ctx context.Context) (moved int, err error) {
	fd := f.local
	if err := f.look(ctx, fd); err != nil {
		return 0, fmt.Errorf("index: %w", err)
	}
	at := fd.position.Load()
	var changes []corpus.Change
	err = f.cfg.Store.ScanStatistics(ctx, f.cfg.Generation.ID, at, func(s catalog.Statistics) error {
		c, err := corpus.DecodeChange(s.Data)
		switch {
		case err != nil:
			return err
		case s.Since == 0:
			c.Whole, f.counted = true, counted{whole: len(s.Data)}
		case s.Since != at:
			return fmt.Errorf("they go on from %d, not from %d: %w", s.Since, at, corpus.ErrCorrupt)
		default:
			f.counted.changes += len(s.Data)
		}
		changes, at = append(changes, c), s.Until
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("index: read statistics (almanac reindex makes them again): %w", err)
	}
	if len(changes) == 0 {
		if at == 0 {
			if stored, err := f.checkpoint(ctx); err != nil || stored > 0 {
				return 0, errors.Join(err, errUncounted)
			}
		}
		f.settle(fd)
		return 0, nil
	}
	f.applied.Add(1)
	f.corpus.Apply(changes...)
	if changes[0].Whole {
		words, err := f.readWords(ctx)
		if err == nil {
			err = f.loadWords(ctx, words)
		}
		if err != nil {
			return 0, err
		}
	}
	fd.position.Store(at)
	fd.counted = -1
	f.settle(fd)
	return len(changes), nil
}

// loadStatistics takes those that are stored. The process that writes the index counts its
// documents where they are not of its checkpoint, as after an earlier version.
func (f *Follower) loadStatistics(ctx context.Context) (begin int64, err error) {
	_, err = f.take(ctx)
	begin = f.local.position.Load()
	switch {
	case f.cfg.ReadOnly && errors.Is(err, errUncounted):
		return begin, nil // it may come
	case f.cfg.ReadOnly || err != nil && !errors.Is(err, errUncounted) && !errors.Is(err, corpus.ErrCorrupt):
		return begin, err
	case err == nil && begin == f.stored.Load():
		f.counted.follows = true
		return begin, nil
	}
	f.empty()
	return f.stored.Load(), f.loadCorpus(ctx)
}
