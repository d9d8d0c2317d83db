package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"almanac/catalog/sqlstore"
	"almanac/cmd/config"
	"almanac/retrieval/workbench"
)

// judgeCmd is the dashboard's judging without the pages.
type judgeCmd struct {
	List   judgeListCmd   `cmd:"" help:"List the cases of the data directory."`
	Import judgeImportCmd `cmd:"" help:"Add queries and judgments to a case."`
	Export judgeExportCmd `cmd:"" help:"Write a case as files that eval and judge import read."`
}

type judgeListCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

type judgeImportCmd struct {
	Case  string `arg:"" help:"Name of the case; it is made unless there is one."`
	Path  string `arg:"" help:"Directory with queries.jsonl and qrels.tsv, or a file of judgments."`
	Judge string `help:"Who judged; default the name of the directory or file." placeholder:"NAME"`
	JSON  bool   `name:"json" help:"Print JSON."`
}

type judgeExportCmd struct {
	Case   string   `arg:"" help:"Name of the case."`
	Dir    string   `arg:"" help:"Directory to write to."`
	Judges []string `help:"Whose judgments, such as person/ada; default all people's." placeholder:"JUDGE"`
	TREC   bool     `name:"trec" help:"Write the judgments as TREC has them too, to qrels.txt."`
	JSON   bool     `name:"json" help:"Print JSON."`
}

// cases opens the catalog, to which the network's judged queries belong as its first
// case, and prints what do returns.
func (a *app) cases(ctx context.Context, asJSON bool, do func(*sqlstore.Store) (fmt.Stringer, error)) error {
	var out fmt.Stringer
	err := a.withCatalog(ctx, func(store *sqlstore.Store) (err error) {
		if err = a.firstCase(ctx, store); err == nil {
			out, err = do(store)
		}
		return err
	})
	if err == nil && asJSON {
		return json.NewEncoder(a.out).Encode(out)
	} else if err == nil {
		_, err = fmt.Fprintln(a.out, out)
	}
	return err
}

// firstCase adds the judged queries of its network to a catalog without cases.
func (a *app) firstCase(ctx context.Context, store *sqlstore.Store) error {
	set, err := a.ownSet()
	if errors.Is(err, config.ErrUsage) { // there are none
		return nil
	} else if err != nil {
		return err
	}
	return workbench.First(ctx, store, set.name, set.files)
}

// Run lists.
func (c *judgeListCmd) Run(ctx context.Context, a *app) error {
	return a.cases(ctx, c.JSON, func(store *sqlstore.Store) (fmt.Stringer, error) { return workbench.List(ctx, store) })
}

// Run reads files into the catalog.
func (c *judgeImportCmd) Run(ctx context.Context, a *app) error {
	in, err := workbench.ReadPath(c.Path)
	if err != nil {
		return err
	}
	judge := workbench.ImportJudge + cmp.Or(c.Judge, in.Name)
	return a.cases(ctx, c.JSON, func(store *sqlstore.Store) (fmt.Stringer, error) {
		done, err := workbench.Import(ctx, store, c.Case, in, judge, "command line")
		if err != nil {
			return nil, err
		}
		missing, err := workbench.Missing(ctx, store, done.Case)
		fmt.Fprint(a.err, missing)
		return done, err
	})
}

// Run writes files.
func (c *judgeExportCmd) Run(ctx context.Context, a *app) error {
	return a.cases(ctx, c.JSON, func(store *sqlstore.Store) (fmt.Stringer, error) {
		out, files, err := workbench.Export(ctx, store, c.Case, c.TREC, c.Judges...)
		err = errors.Join(err, os.MkdirAll(c.Dir, 0o755))
		for name, data := range files {
			err = errors.Join(err, replaceFile(filepath.Join(c.Dir, name), data))
		}
		return out, err
	})
}
