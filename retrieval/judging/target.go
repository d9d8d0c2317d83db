package judging

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"almanac/catalog"
)

// reference names a record by kind and key.
func reference(r catalog.Record) string { return string(r.Kind) + ":" + r.Key }

// Target returns the name by which judgments know a record: its path, unless other
// records came from the same one and no judgment names it; kind:key otherwise.
func Target(ctx context.Context, store catalog.Reader, r catalog.Record, judged map[string]bool) (string, error) {
	if r.Path == "" || judged[reference(r)] {
		return reference(r), nil
	}
	if judged[r.Path] {
		return r.Path, nil
	}
	sharing, err := store.ByPath(ctx, r.Path)
	if err != nil {
		return "", err
	}
	if len(sharing) > 1 {
		return reference(r), nil
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
	kind, key, ok := strings.Cut(target, ":")
	if !ok {
		return catalog.Record{}, fmt.Errorf("%s: %w", target, catalog.ErrNotFound)
	}
	return store.Get(ctx, catalog.Ref{Kind: catalog.Kind(kind), Key: key})
}

// gone reports whether an error says that there is no such record.
func gone(err error) bool { return errors.Is(err, catalog.ErrNotFound) }
