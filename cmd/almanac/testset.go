package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/retrieval/eval"
	"almanac/retrieval/profile"
	"almanac/retrieval/stack"
)

// testSet is a directory with judgments.
type testSet struct {
	dir    string
	name   string
	corpus bool // it has documents of its own; else they are those of the data directory
}

// testSets lists directories as sets; they are told apart by their names.
func testSets(judged, queries []string) ([]testSet, error) {
	var sets []testSet
	var names []string
	for i, dir := range slices.Concat(judged, queries) {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		sets, names = append(sets, testSet{dir, filepath.Base(abs), i < len(judged)}), append(names, filepath.Base(abs))
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("%w: --judged or --queries must name a collection", errUsage)
	}
	if twice := repeated(names); twice != "" {
		return nil, fmt.Errorf("%w: two collections are named %s", errUsage, twice)
	}
	return sets, nil
}

const (
	// judgedBatch is the number of documents written in one transaction.
	judgedBatch = 500
	// evalDeadline lets every engine take part in every measured search,
	// however busy the machine is; the measured times tell whether it was.
	evalDeadline = time.Minute
)

// openSet opens a library whose index holds the set's documents, with profiles
// to search by, and the documents' names by record.
func (a *app) openSet(ctx context.Context, set testSet, profiles []profile.Profile) (*library, map[int64]string, error) {
	open := a.openNetwork
	if set.corpus {
		open = a.openCorpus
	}
	l, err := open(ctx, set, profiles)
	if err != nil {
		return nil, nil, err
	}
	names, err := l.names(ctx)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("nothing is indexed in %s: run `almanac sync` first", l.dir)
	}
	if err != nil {
		return nil, nil, errors.Join(err, l.close())
	}
	return l, names, nil
}

// openNetwork opens the data directory.
func (a *app) openNetwork(ctx context.Context, _ testSet, profiles []profile.Profile) (*library, error) {
	n, dir, err := a.open()
	if err != nil {
		return nil, err
	}
	cfg, err := a.stackConfig(n, dir, profiles...)
	if err != nil {
		return nil, err
	}
	cfg.Deadline = evalDeadline
	return openLibrary(ctx, n, cfg, stack.Open)
}

// openCorpus loads a set's own documents into a temporary directory.
func (a *app) openCorpus(ctx context.Context, set testSet, profiles []profile.Profile) (*library, error) {
	tmp, err := os.MkdirTemp("", "almanac-eval-*")
	if err != nil {
		return nil, err
	}
	n := network.Network{Name: "judged"}
	cfg, err := a.stackConfig(n, tmp, profiles...)
	cfg.Temporary, cfg.Deadline = true, evalDeadline
	var l *library
	if err == nil {
		l, err = openLibrary(ctx, n, cfg, stack.Open)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(tmp))
	}
	if err := putDocuments(ctx, l.store, set.dir); err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

// putDocuments writes the documents of a judged collection to a catalog.
func putDocuments(ctx context.Context, store catalog.Store, dir string) error {
	var batch []catalog.Entry
	flush := func() error {
		_, err := store.Apply(ctx, catalog.Batch{Source: "judged", Entries: batch})
		batch = batch[:0]
		return err
	}
	err := eval.Documents(dir, func(d eval.Document) error {
		data, err := catalog.Encode(catalog.Doc{Format: "text"})
		if err != nil {
			return err
		}
		batch = append(batch, catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: d.ID, Path: d.ID, Title: d.Title, Body: d.Text, Data: data}})
		if len(batch) < judgedBatch {
			return nil
		}
		return flush()
	})
	if err = errors.Join(err, flush()); err != nil {
		return fmt.Errorf("index %s: %w", dir, err)
	}
	return nil
}

// names completes the index and maps records to the paths they came from.
func (l *library) names(ctx context.Context) (map[int64]string, error) {
	if err := l.CatchUp(ctx, true); err != nil {
		return nil, err
	}
	records, _, err := l.store.List(ctx, catalog.ListQuery{})
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

// bar draws progress on a terminal; elsewhere it draws nothing.
type bar struct{ bar *progressbar.ProgressBar }

func (a *app) progress(what string) bar {
	if !isTerminal(a.err) {
		return bar{}
	}
	return bar{progressbar.NewOptions(1, progressbar.OptionSetWriter(a.err), progressbar.OptionSetDescription(what), progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())}
}

// set says how much is done. What cannot be drawn is no reason to stop.
func (b bar) set(done, total int) {
	if b.bar != nil {
		b.bar.ChangeMax(total)
		_ = b.bar.Set(done)
	}
}

// done removes the bar.
func (b bar) done() {
	if b.bar != nil {
		_ = b.bar.Clear()
		_ = b.bar.Exit()
	}
}

// replaceFile writes a file under another name and renames it when it is
// whole, so that a file of the name is always complete.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := errors.Join(write(f), f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
