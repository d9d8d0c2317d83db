package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/stack"
	"almanac/testing/scale"
)

// batch is how many records are written at once.
const batch = 500

// build fills a catalog and builds its index.
func (j job) build(ctx context.Context) error {
	fmt.Printf("%d passages\n", j.passages)
	if err := j.fill(ctx); err != nil {
		return err
	}
	start := time.Now()
	store, s, err := j.open(ctx, stack.Open)
	if err != nil {
		return err
	}
	records, passages := s.Follower.Corpus().Size()
	report("build", "%s for %d records, %d passages", seconds(time.Since(start)), records, passages)
	report("build: memory at most", "%d MB", resident("VmHWM")>>20)
	if err := errors.Join(s.Close(), store.Close()); err != nil {
		return err
	}
	entries, err := os.ReadDir(j.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if size := sizeOf(filepath.Join(j.dir, e.Name())); size > 1<<20 {
			report("file "+e.Name(), "%d MB", size>>20)
		}
	}
	return nil
}

// fill writes the records that the catalog lacks.
func (j job) fill(ctx context.Context) error {
	texts, err := scale.ReadTexts(filepath.Join(j.shared, "corpus"))
	if err != nil {
		return err
	}
	store, err := j.store(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	_, have, err := store.List(ctx, catalog.ListQuery{Limit: 1})
	if err != nil {
		return err
	}
	want := j.passages / scale.PassagesPerRecord
	for from := have; from < want; from += batch {
		if err := put(ctx, store, texts, from, min(from+batch, want), 0); err != nil {
			return err
		}
	}
	return nil
}

// put writes an edition of the records from one number to another.
func put(ctx context.Context, store *sqlstore.Store, texts *scale.Texts, from, to, edition int) error {
	entries := make([]catalog.Entry, 0, to-from)
	for n := from; n < to; n++ {
		entries = append(entries, texts.Record(n, edition))
	}
	_, err := store.Apply(ctx, catalog.Batch{Source: "site", Entries: entries})
	return err
}

// sizeOf returns the bytes of a file, or of all files of a directory.
func sizeOf(path string) (size int64) {
	_ = filepath.Walk(path, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			size += info.Size()
		}
		return nil
	})
	return size
}
