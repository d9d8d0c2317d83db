package workbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/eval"
)

// putBatch is the number of documents written in one transaction.
const putBatch = 500

// Put writes the documents of a judged collection to a catalog.
func Put(ctx context.Context, store *sqlstore.Store, dir string) error {
	var batch []catalog.Entry
	flush := func() error {
		_, err := store.Apply(ctx, catalog.Batch{Source: "judged", Entries: batch})
		batch = batch[:0]
		return err
	}
	err := eval.ReadDocuments(dir, func(d eval.Document) error {
		kind := cmp.Or(catalog.Kind(d.Kind), catalog.KindDoc)
		if _, ok := catalog.InfoOf(kind); !ok {
			return fmt.Errorf("document %s: there is no kind %q", d.ID, kind)
		}
		batch = append(batch, catalog.Entry{Record: catalog.Record{
			Kind: kind, Key: d.ID, Path: d.ID, Title: d.Title, Body: d.Text, State: d.State, Data: []byte("{}")}})
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
// judgments name them: a path, for all that came from it, or another handle of one
// record. One that is not judged has its path, or kind:key if others share that and
// the collection names any record otherwise than by a path.
func Names(ctx context.Context, store *sqlstore.Store, c eval.Collection) (map[int64]string, error) {
	records, _, err := store.List(ctx, catalog.ListQuery{})
	if err != nil {
		return nil, err
	}
	judged := c.Documents()
	names, sharing, refs := make(map[int64]string, len(records)), map[string]int{}, false
	for _, r := range records {
		for _, h := range r.Handles() {
			if h == r.Path || judged[h] {
				sharing[h]++
				refs = refs || h != r.Path
			}
		}
	}
	for _, r := range records {
		switch name, certain := nameOf(r, judged, sharing); {
		case certain || refs:
			names[r.ID] = name
		case r.Path != "":
			names[r.ID] = r.Path
		}
	}
	return names, nil
}

// nameOf returns the handle of a record that is judged and that it does not share, or the
// path that is judged, or the path that it does not share; kind:key, which is not certain,
// if there is none of these.
func nameOf(r catalog.Record, judged map[string]bool, sharing map[string]int) (name string, certain bool) {
	all := r.Handles()
	at := slices.IndexFunc(all, func(h string) bool { return judged[h] && (h == r.Path || sharing[h] == 1) })
	switch {
	case at >= 0:
		return all[at], true
	case r.Path != "" && sharing[r.Path] == 1:
		return r.Path, true
	}
	return r.Ref().Name(), false
}

// Targets returns the names by which judgments know records; see nameOf.
func Targets(ctx context.Context, store *sqlstore.Store, records []catalog.Record, judged map[string]bool) (
	map[int64]string, error) {
	var asked []string
	for _, r := range records {
		for _, h := range r.Handles() {
			if h == r.Path || judged[h] {
				asked = append(asked, h)
			}
		}
	}
	having, err := store.Handled(ctx, asked)
	if err != nil {
		return nil, err
	}
	sharing := map[string]int{}
	for _, r := range having {
		for _, h := range r.Handles() {
			sharing[h]++
		}
	}
	names := make(map[int64]string, len(records))
	for _, r := range records {
		names[r.ID], _ = nameOf(r, judged, sharing)
	}
	return names, nil
}

// Resolve returns the record that a judgment names, the first of those from one
// path. ErrNotFound.
func Resolve(ctx context.Context, store *sqlstore.Store, target string) (catalog.Record, error) {
	records, err := store.ByPath(ctx, target)
	if err != nil {
		return catalog.Record{}, err
	}
	if len(records) > 0 {
		return records[0], nil
	}
	if ref, ok := catalog.RefNamed(target); ok {
		if r, err := store.Get(ctx, ref); !gone(err) {
			return r, err
		}
	}
	return named(ctx, store, target)
}

// named finds the one record that has a handle.
func named(ctx context.Context, store *sqlstore.Store, handle string) (catalog.Record, error) {
	if id, err := strconv.ParseInt(handle, 10, 64); err == nil {
		if r, err := store.ByID(ctx, id); !gone(err) {
			return r, err
		}
	}
	records, err := store.Handled(ctx, []string{handle})
	if err == nil && len(records) != 1 {
		err = fmt.Errorf("%s: %w", handle, catalog.ErrNotFound)
	}
	if err != nil {
		return catalog.Record{}, err
	}
	return store.ByID(ctx, records[0].ID)
}

// gone reports whether an error says that there is no such record.
func gone(err error) bool { return errors.Is(err, catalog.ErrNotFound) }
