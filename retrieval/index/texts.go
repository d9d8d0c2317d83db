package index

import (
	"context"
	"fmt"

	"almanac/catalog"
	"almanac/retrieval/corpus"
	"almanac/retrieval/passage"
)

// store writes passages, documents and words, or keeps the texts in memory if
// another process writes them, and publishes the corpus with them.
func (f *Follower) store(ctx context.Context, records []*analysed, gone []int64, checkpoint int64) error {
	documents := make([]*corpus.Document, len(records))
	for i, a := range records {
		documents[i] = a.document
	}
	change, err := f.corpus.Change(ctx, documents, gone, f.corpus.UnknownWords(textsOf(records)))
	if err != nil {
		return err
	}
	if f.cfg.ReadOnly {
		f.keep(records, gone, checkpoint)
	} else if err := f.write(ctx, records, gone, change, checkpoint); err != nil {
		return err
	}
	f.applied.Add(1) // before anybody sees the documents: their texts are there
	f.corpus.Apply(change)
	return nil
}

func (f *Follower) write(
	ctx context.Context, records []*analysed, gone []int64, change corpus.Change, checkpoint int64,
) error {
	if checkpoint <= f.stored.Load() {
		return nil // an engine is being rebuilt; the passages table has these
	}
	if err := f.cfg.Store.AddWords(ctx, f.cfg.Generation.ID, change.Words); err != nil {
		return fmt.Errorf("index: store words: %w", err)
	}
	rows := make([]catalog.RecordPassages, 0, len(records)+len(gone))
	for _, a := range records {
		rows = append(rows, a.stored())
	}
	for _, id := range gone {
		rows = append(rows, catalog.RecordPassages{Record: id})
	}
	return f.put(ctx, catalog.IndexBatch{Records: rows, Checkpoint: checkpoint}, change)
}

// kept are the texts of a record that was cut here and that the process which
// writes the index may not have stored yet.
type kept struct {
	checkpoint int64 // stored with it
	passages   []catalog.Passage
}

func (f *Follower) keep(records []*analysed, gone []int64, checkpoint int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range gone {
		delete(f.texts, id)
	}
	for _, a := range records {
		f.texts[a.record.ID] = kept{checkpoint, a.stored().Passages}
	}
}

// release drops the texts that the writing process has stored by now.
func (f *Follower) release(ctx context.Context) error {
	f.mu.Lock()
	n := len(f.texts)
	f.mu.Unlock()
	if n == 0 {
		return nil
	}
	stored, err := f.checkpoint(ctx)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, k := range f.texts {
		if k.checkpoint <= stored {
			delete(f.texts, id)
		}
	}
	return nil
}

// checkpoint reads the generation's: it moves when another process writes.
func (f *Follower) checkpoint(ctx context.Context) (int64, error) {
	generations, err := f.cfg.Store.Generations(ctx)
	if err != nil {
		return 0, fmt.Errorf("index: %w", err)
	}
	for _, g := range generations {
		if g.ID == f.cfg.Generation.ID {
			return g.Checkpoint, nil
		}
	}
	return 0, nil // it was dropped
}

// recentTexts is how many passages are kept in memory after they were shown: 10 to 20 MB.
const recentTexts = 16_000

// Texts returns the passages with their texts, in the order of ids; a missing one is zero.
func (f *Follower) Texts(ctx context.Context, ids []passage.ID) ([]catalog.Passage, error) {
	out := make([]catalog.Passage, len(ids))
	want := f.cut(ids, out)
	if len(want) == 0 {
		return out, nil
	}
	found, err := f.shown.Get(f.applied.Load(), want, func(missing []int64) (map[int64]catalog.Passage, error) {
		read, err := f.cfg.Store.Passages(ctx, f.cfg.Generation.ID, missing)
		if err != nil {
			return nil, fmt.Errorf("index: read passages: %w", err)
		}
		byID := make(map[int64]catalog.Passage, len(read))
		for _, p := range read {
			byID[p.ID] = p
		}
		return byID, nil
	})
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		if p, ok := found[int64(id)]; ok {
			out[i] = p
		}
	}
	return out, nil
}

// cut puts the passages that were cut here into out, and returns the ids of the others.
func (f *Follower) cut(ids []passage.ID, out []catalog.Passage) (want []int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, id := range ids {
		if k, ok := f.texts[id.Record()]; !ok {
			want = append(want, int64(id))
		} else if n := id.Ordinal(); n < len(k.passages) {
			out[i] = k.passages[n]
		}
	}
	return want
}
