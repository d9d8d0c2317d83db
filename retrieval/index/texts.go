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
	words := f.corpus.UnknownWords(textsOf(records))
	if f.cfg.ReadOnly {
		f.keep(records, gone, checkpoint)
	} else if err := f.write(ctx, records, gone, words, checkpoint); err != nil {
		return err
	}
	documents := make([]*corpus.Document, len(records))
	for i, a := range records {
		documents[i] = a.document
	}
	f.corpus.Apply(documents, gone, words)
	return nil
}

func (f *Follower) write(
	ctx context.Context, records []*analysed, gone []int64, words []string, checkpoint int64,
) error {
	if checkpoint <= f.stored.Load() {
		return nil // an engine is being rebuilt; the passages table has these
	}
	if err := f.cfg.Store.AddWords(ctx, f.cfg.Generation.ID, words); err != nil {
		return fmt.Errorf("index: store words: %w", err)
	}
	rows := make([]catalog.RecordPassages, 0, len(records)+len(gone))
	for _, a := range records {
		rows = append(rows, a.stored())
	}
	for _, id := range gone {
		rows = append(rows, catalog.RecordPassages{Record: id})
	}
	if err := f.cfg.Store.PutPassages(ctx, f.cfg.Generation.ID, rows, checkpoint); err != nil {
		return fmt.Errorf("index: store passages: %w", err)
	}
	f.stored.Store(checkpoint)
	return nil
}

// kept are the texts of a record that was cut here and that the process which
// writes the index may not have stored yet.
type kept struct {
	checkpoint int64 // stored with it
	texts      []text
}

type text struct{ anchor, section, heading, text string }

func (f *Follower) keep(records []*analysed, gone []int64, checkpoint int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range gone {
		delete(f.texts, id)
	}
	for _, a := range records {
		texts := make([]text, len(a.pieces))
		for i, p := range a.pieces {
			texts[i] = text{p.Anchor, p.Section, p.Heading, p.Text}
		}
		f.texts[a.record.ID] = kept{checkpoint, texts}
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

// Texts returns the passages with their texts, in the order of ids; a missing one is zero.
func (f *Follower) Texts(ctx context.Context, ids []passage.ID) ([]catalog.Passage, error) {
	out := make([]catalog.Passage, len(ids))
	var want []int64
	at := map[int64]int{}
	f.mu.Lock()
	for i, id := range ids {
		if k, ok := f.texts[id.Record()]; ok {
			if n := id.Ordinal(); n < len(k.texts) {
				x := k.texts[n]
				out[i] = catalog.Passage{ID: int64(id), Record: id.Record(), Ordinal: n, Anchor: x.anchor,
					Section: x.section, Heading: x.heading, Text: x.text}
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
