package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/retrieval/corpus"
)

// ErrAhead is wrapped by Load's error when an engine in this process has changes
// that the catalog has not indexed, as after an older copy of the catalog was
// restored. The engine must be opened empty.
var ErrAhead = errors.New("an engine is ahead of the catalog")

// Load reads the documents into memory, or their statistics, and finds out how far behind the engines
// are: each continues from its own checkpoint, those in this process from the
// least of theirs, which is safe because applying a change twice is the same as
// once. As documents are stored before the engines get them, no engine is ahead
// of the generation's checkpoint.
func (f *Follower) Load(ctx context.Context) error {
	begin, err := f.position(ctx)
	if err != nil {
		return err
	}
	if f.cfg.Stored {
		begin, err = f.loadStatistics(ctx)
	} else {
		err = f.loadCorpus(ctx)
	}
	if stored := f.stored.Load(); err == nil && f.counts() && stored > 0 && !f.counted.follows {
		err = f.put(ctx, catalog.IndexBatch{Checkpoint: stored}, corpus.Change{})
	}
	if err != nil {
		return err
	}
	f.begun = begin > 0
	f.local.position.Store(begin)
	for _, fd := range append([]*feed{f.local}, f.separate...) {
		fd.flushed = time.Now()
		if err := f.look(ctx, fd); err != nil {
			return fmt.Errorf("index: %w", err)
		}
	}
	return nil
}

// position returns where the corpus and the engines in this process continue.
func (f *Follower) position(ctx context.Context) (int64, error) {
	engines, err := f.inProcess().checkpoints(ctx)
	if err != nil {
		return 0, fmt.Errorf("index: %w", err)
	}
	stored, err := f.checkpoint(ctx) // after those of the engines, which the writing process moves later
	if err != nil {
		return 0, err
	}
	for _, at := range engines {
		if at > stored {
			return 0, fmt.Errorf("index: %w: it has changes up to %d of %d", ErrAhead, at, stored)
		}
	}
	f.stored.Store(stored)
	fed, err := f.local.checkpoints(ctx)
	if err != nil {
		return 0, fmt.Errorf("index: %w", err)
	}
	return slices.Min(append(fed, stored)), nil
}

// inProcess returns a feed of the engines in this process, wherever they are fed.
func (f *Follower) inProcess() *feed {
	fd := &feed{}
	if !f.cfg.KeywordServer {
		fd.keyword = f.cfg.Keyword
	}
	if !f.cfg.VectorServer {
		fd.vector = f.cfg.Vector
	}
	return fd
}

// loaded is how many documents are published at once while they are read: few
// enough that one goroutine reads while another decodes and counts.
const loaded = 4096

func (f *Follower) loadCorpus(ctx context.Context) error {
	words, err := f.readWords(ctx)
	if err != nil {
		return err
	}
	decoded := make(chan error, 1)
	parts := make(chan []document, 1)
	go func() { decoded <- f.publish(ctx, parts) }()
	part := make([]document, 0, loaded)
	err = f.cfg.Store.ScanDocuments(ctx, f.cfg.Generation.ID, func(record int64, data []byte) error {
		part = append(part, document{record, string(data)})
		if len(part) == cap(part) {
			parts <- part
			part = make([]document, 0, loaded)
		}
		return nil
	})
	parts <- part
	close(parts)
	if err := errors.Join(err, <-decoded); err != nil {
		return fmt.Errorf("index: read documents (almanac reindex makes them again): %w", err)
	}
	return f.loadWords(ctx, words)
}

// document is a stored one.
type document struct {
	record int64
	data   string
}

// publish decodes and publishes documents, or what they count, until there are no more.
func (f *Follower) publish(ctx context.Context, parts <-chan []document) (err error) {
	for part := range parts {
		documents := make([]*corpus.Document, 0, len(part))
		for _, x := range part {
			d, damaged := corpus.Decode(x.record, x.data)
			if err = errors.Join(err, damaged); err == nil {
				documents = append(documents, d)
			}
		}
		change := corpus.Counted(documents)
		if !f.cfg.Stored {
			change, _ = f.corpus.Change(ctx, documents, nil, nil) // fails only where documents are not in memory
		}
		f.corpus.Apply(change)
	}
	return err
}

func (f *Follower) readWords(ctx context.Context) ([]string, error) {
	words, err := f.cfg.Store.Words(ctx, f.cfg.Generation.ID)
	if err != nil {
		return nil, fmt.Errorf("index: read words: %w", err)
	}
	return words, nil
}

// loadWords publishes words. Those that no document holds are left over from documents
// that are gone, and are dropped by the process that writes: only that one knows which
// will come as new ones when a document has them again.
func (f *Follower) loadWords(ctx context.Context, words []string) error {
	if f.cfg.ReadOnly {
		f.corpus.AddWords(words)
		return nil
	}
	c := f.corpus.Corpus()
	var unused []string
	words = slices.DeleteFunc(words, func(w string) bool {
		if c.Holds(w) {
			return false
		}
		unused = append(unused, w)
		return true
	})
	f.corpus.AddWords(words)
	if len(unused) == 0 {
		return nil
	}
	if err := f.cfg.Store.DropWords(ctx, f.cfg.Generation.ID, unused); err != nil {
		return fmt.Errorf("index: drop words: %w", err)
	}
	return nil
}
