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
	err := readDocuments(dir, func(d document) error {
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

// Names maps the records of a catalog to the ids by which a collection's
// judgments name them: the paths they came from. A collection that names any
// record as kind:key ranks those too that have no path of their own, by that
// name, except that a path it judges stays the name of all that came from it.
func Names(ctx context.Context, store catalog.Reader, c Collection) (map[int64]string, error) {
	records, _, err := store.List(ctx, catalog.ListQuery{})
	if err != nil {
		return nil, err
	}
	judged := c.documents()
	names, sharing, refs := make(map[int64]string, len(records)), map[string]int{}, false
	for _, r := range records {
		sharing[r.Path]++
		refs = refs || judged[reference(r)]
	}
	for _, r := range records {
		switch own := r.Path != "" && (sharing[r.Path] == 1 || judged[r.Path]); {
		case refs && !own:
			names[r.ID] = reference(r)
		case r.Path != "":
			names[r.ID] = r.Path
		}
	}
	return names, nil
}

// reference names a record by what it is and its key.
func reference(r catalog.Record) string { return string(r.Kind) + ":" + r.Key }
