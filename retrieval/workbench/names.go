package workbench

import (
	"context"
	"errors"
	"fmt"

	"almanac/catalog"
	"almanac/retrieval/eval"
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
	err := eval.ReadDocuments(dir, func(d eval.Document) error {
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
func Names(ctx context.Context, store catalog.Reader, c eval.Collection) (map[int64]string, error) {
	records, _, err := store.List(ctx, catalog.ListQuery{})
	if err != nil {
		return nil, err
	}
	judged := c.Documents()
	names, sharing, refs := make(map[int64]string, len(records)), map[string]int{}, false
	for _, r := range records {
		sharing[r.Path]++
		refs = refs || judged[r.Ref().Name()]
	}
	for _, r := range records {
		switch own := r.Path != "" && (sharing[r.Path] == 1 || judged[r.Path]); {
		case refs && !own:
			names[r.ID] = r.Ref().Name()
		case r.Path != "":
			names[r.ID] = r.Path
		}
	}
	return names, nil
}

// Target returns the name by which judgments know a record: its path, unless other
// records came from the same one and no judgment names it; kind:key otherwise.
func Target(ctx context.Context, store catalog.Reader, r catalog.Record, judged map[string]bool) (string, error) {
	if r.Path == "" || judged[r.Ref().Name()] {
		return r.Ref().Name(), nil
	}
	if judged[r.Path] {
		return r.Path, nil
	}
	sharing, err := store.ByPath(ctx, r.Path)
	if err != nil {
		return "", err
	}
	if len(sharing) > 1 {
		return r.Ref().Name(), nil
	}
	return r.Path, nil
}

// Resolve returns the record that a judgment names, the first of those from one
// path. ErrNotFound.
func Resolve(ctx context.Context, store catalog.Reader, target string) (catalog.Record, error) {
	records, err := store.ByPath(ctx, target)
	if err != nil {
		return catalog.Record{}, err
	}
	if len(records) > 0 {
		return records[0], nil
	}
	ref, ok := catalog.RefNamed(target)
	if !ok {
		return catalog.Record{}, fmt.Errorf("%s: %w", target, catalog.ErrNotFound)
	}
	return store.Get(ctx, ref)
}

// gone reports whether an error says that there is no such record.
func gone(err error) bool { return errors.Is(err, catalog.ErrNotFound) }
