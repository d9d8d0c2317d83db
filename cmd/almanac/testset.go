package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"almanac/catalog/datadir"
	"almanac/catalog/network"
	"almanac/cmd/config"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
	"almanac/ingest/sample"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/stack"
	"almanac/retrieval/workbench"
)

// testSet is a directory, or files in the program, with judgments.
type testSet struct {
	dir    string
	files  fs.FS // in place of a directory
	name   string
	corpus bool // it has documents; otherwise they are in the data directory

	collection *eval.Collection // of the data directory's own cases
}

// load reads the judged queries; qrels replaces the set's judgments unless empty.
func (s testSet) load(qrels string) (eval.Collection, error) {
	switch {
	case s.collection != nil:
		return *s.collection, nil
	case s.files != nil:
		return eval.LoadFS(s.files, s.name)
	}
	return eval.LoadWith(s.dir, cmp.Or(qrels, filepath.Join(s.dir, "qrels.tsv")))
}

// ownSet returns the judged queries that come with the network.
func (a *app) ownSet() (testSet, error) {
	n, err := networks.Load(a.config.Network.Name)
	if err != nil {
		return testSet{}, err
	}
	if !slices.ContainsFunc(n.Sources, func(src network.Source) bool { return src.Kind == connectors.Sample }) {
		return testSet{}, fmt.Errorf("%w: network %s has no judged queries: name a collection with --judged or --queries",
			config.ErrUsage, n.Name)
	}
	return testSet{files: sample.Judged(), name: n.Name}, nil
}

// testSets lists directories as sets; their names must differ.
func testSets(judged, queries []string) ([]testSet, error) {
	var sets []testSet
	var names []string
	for i, dir := range slices.Concat(judged, queries) {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		sets = append(sets, testSet{dir: dir, name: filepath.Base(abs), corpus: i < len(judged)})
		names = append(names, filepath.Base(abs))
	}
	if len(sets) == 0 {
		return nil, fmt.Errorf("%w: --judged or --queries must name a collection", config.ErrUsage)
	}
	if twice := repeated(names); twice != "" {
		return nil, fmt.Errorf("%w: two collections are named %s", config.ErrUsage, twice)
	}
	return sets, nil
}

// repeated returns a string that occurs twice, or "".
func repeated(names []string) string {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return name
		}
	}
	return ""
}

// evalDeadline is long enough for every engine to answer, even on a busy machine.
const evalDeadline = time.Minute

// openSet opens a library with the set's documents, and returns how its records
// are judged: their names, and which are copies by the default profile, so that
// all profiles are measured alike. Its own documents are loaded into a temporary
// directory; their vectors by a transformer are kept with those of the network.
func (a *app) openSet(
	ctx context.Context, set testSet, collection eval.Collection, profiles []ranking.Profile,
) (*library, eval.Options, error) {
	n, at := network.Network{Name: "judged"}, datadir.Catalog{}
	var err error
	if set.corpus {
		at.Dir, err = os.MkdirTemp("", "almanac-eval-*")
	} else {
		n, at, err = a.open()
	}
	if err != nil {
		return nil, eval.Options{}, err
	}
	cfg, err := a.stackConfig(n, at.Dir, profiles...)
	if err != nil {
		return nil, eval.Options{}, err
	}
	cfg.Temporary, cfg.Deadline = set.corpus, evalDeadline
	if set.corpus {
		if configured, err := networks.Load(a.config.Network.Name); err == nil && a.dataDir(configured) != "" {
			cfg.Kept = stack.EmbeddingsOf(a.dataDir(configured))
		}
	}
	l, err := openLibrary(ctx, n, at, cfg, stack.Open)
	if err != nil {
		return nil, eval.Options{}, err
	}
	if set.corpus {
		err = workbench.Put(ctx, l.store, set.dir)
	} else {
		err = a.load(ctx, n, at, l.store)
	}
	if err == nil {
		err = l.CatchUp(ctx, true)
	}
	var judged eval.Options
	if err == nil {
		judged, err = workbench.Options(ctx, l.store, collection, l.Follower.Corpus())
	}
	if err == nil && len(judged.Names) == 0 {
		err = fmt.Errorf("nothing is indexed in %s: run `almanac sync` first", l.at.Dir)
	}
	if err != nil {
		return nil, judged, errors.Join(err, l.close())
	}
	return l, judged, nil
}
