package index

import (
	"context"
	"fmt"

	"almanac/catalog"
	"almanac/retrieval/passage"
)

// store writes the passages table and the words, or keeps the texts in memory
// if another process writes the table.
func (f *Follower) store(ctx context.Context, records []*analysed, gone []int64, checkpoint int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if checkpoint <= f.stored {
		return nil // an engine is being rebuilt; the passages table has these
	}
	if f.cfg.ReadOnly {
		for _, a := range records {
			texts := make([]text, len(a.pieces))
			for i, p := range a.pieces {
				texts[i] = text{p.Anchor, p.Section, p.Heading, p.Text}
			}
			f.texts[a.record.ID] = texts
		}
		f.corpus.AddWords(f.corpus.UnknownWords(textsOf(records)))
		return nil
	}
	words := f.corpus.UnknownWords(textsOf(records))
	if err := f.cfg.Store.AddWords(ctx, f.cfg.Generation.ID, words); err != nil {
		return fmt.Errorf("index: store words: %w", err)
	}
	f.corpus.AddWords(words)
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
	f.stored = checkpoint
	return nil
}

// Texts returns the passages with their texts, in the order of ids; a missing one is zero.
func (f *Follower) Texts(ctx context.Context, ids []passage.ID) ([]catalog.Passage, error) {
	out := make([]catalog.Passage, len(ids))
	var want []int64
	at := map[int64]int{}
	f.mu.Lock()
	for i, id := range ids {
		if texts, ok := f.texts[id.Record()]; ok {
			if n := id.Ordinal(); n < len(texts) {
				out[i] = catalog.Passage{ID: int64(id), Record: id.Record(), Ordinal: n, Anchor: texts[n].anchor,
					Section: texts[n].section, Heading: texts[n].heading, Text: texts[n].text}
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
