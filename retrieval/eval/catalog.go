package eval

import (
	"context"
	"errors"
	"fmt"

	"almanac/catalog"
)

// putBatch is the number of documents written in one transaction.
const putBatch = 500

// Put writes the documents of a judged collection to a catalog.
func Put(ctx context.Context, store catalog.Writer, dir string) error {
	var batch []catalog.Entry
	flush := func() error {
		_, err := store.Apply(ctx, catalog.Batch{Source: "judged", Entries: batch})
		batch = batch[:0]
		return err
	}
	err := Documents(dir, func(d Document) error {
		data, err := catalog.Encode(catalog.Doc{Format: "text"})
		if err != nil {
			return err
		}
		batch = append(batch, catalog.Entry{Record: catalog.Record{
			Kind: catalog.KindDoc, Key: d.ID, Path: d.ID, Title: d.Title, Body: d.Text, Data: data}})
		if len(batch) < putBatch {
			return nil
		}
		return flush()
	})
	if err = errors.Join(err, flush()); err != nil {
		return fmt.Errorf("index %s: %w", dir, err)
	}
	return nil
}

// Names maps the records of a catalog to the paths they came from, by which
// judgments name them.
func Names(ctx context.Context, store catalog.Reader) (map[int64]string, error) {
	records, _, err := store.List(ctx, catalog.ListQuery{})
	if err != nil {
		return nil, err
	}
	names := make(map[int64]string, len(records))
	for _, r := range records {
		if r.Path != "" {
			names[r.ID] = r.Path
		}
	}
	return names, nil
}
