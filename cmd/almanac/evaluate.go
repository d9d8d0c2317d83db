package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"almanac/catalog"
	"almanac/retrieval/eval"
	"almanac/retrieval/profile"
)

type evalCmd struct {
	Judged       string   `help:"Judged collection with a corpus of its own, indexed in a temporary store." placeholder:"DIR" xor:"what" required:""`
	Queries      string   `help:"Judged queries over the data directory; ids are the paths of records." placeholder:"DIR" xor:"what" required:""`
	Profile      []string `help:"Relevance profiles, several at once: ${profiles}, or YAML files." default:"default"`
	RelevantFrom int      `help:"Grade from which a document counts as relevant." default:"1"`
	JSON         bool     `name:"json" help:"Print JSON."`
}

func (c *evalCmd) Run(ctx context.Context, a *app) error {
	dir := c.Judged
	if dir == "" {
		dir = c.Queries
	}
	collection, err := eval.Load(dir)
	if err != nil {
		return err
	}
	var s *stack
	var names map[int64]string
	if c.Judged != "" {
		s, names, err = a.judgedStack(ctx, dir, c.Profile)
	} else {
		s, names, err = a.networkStack(ctx, c.Profile)
	}
	if err != nil {
		return err
	}
	defer s.close()
	var reports []eval.Report
	for _, p := range c.Profile {
		name, err := profileName(p)
		if err != nil {
			return err
		}
		r, err := eval.Run(ctx, s.searcher, collection, eval.Options{Profile: name, RelevantFrom: c.RelevantFrom, Names: names})
		if err != nil {
			return err
		}
		r.Profile = p
		reports = append(reports, r)
	}
	if c.JSON {
		return printJSON(a.out, reports)
	}
	return printReports(a.out, reports)
}

// profileName is the name that a profile is searched by: files are loaded
// under the name they state.
func profileName(nameOrFile string) (string, error) {
	if nameOrFile == "" {
		return "", nil
	}
	p, err := profile.Load(nameOrFile)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errUsage, err)
	}
	return p.Name, nil
}

// judgedBatch is the number of documents written in one transaction.
const judgedBatch = 500

// judgedStack indexes a collection's corpus in a temporary directory.
func (a *app) judgedStack(ctx context.Context, dir string, profiles []string) (*stack, map[int64]string, error) {
	tmp, err := os.MkdirTemp("", "almanac-eval-*")
	if err != nil {
		return nil, nil, err
	}
	s, err := openStack(ctx, stackConfig{dir: tmp, temporary: true, network: "judged", profile: profile.DefaultName, profiles: profiles, deadline: time.Minute, log: a.log})
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(tmp))
	}
	var batch []catalog.Entry
	flush := func() error {
		_, err := s.store.Apply(ctx, catalog.Batch{Source: "judged", Entries: batch})
		batch = batch[:0]
		return err
	}
	err = eval.Documents(dir, func(d eval.Document) error {
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
		return nil, nil, errors.Join(fmt.Errorf("index %s: %w", filepath.Base(dir), err), s.close())
	}
	return s.named(ctx)
}

// networkStack opens the data directory.
func (a *app) networkStack(ctx context.Context, profiles []string) (*stack, map[int64]string, error) {
	s, _, err := a.openStack(ctx, profiles...)
	if err != nil {
		return nil, nil, err
	}
	return s.named(ctx)
}

// named completes the index and returns the names of records; on an error the
// stack is closed.
func (s *stack) named(ctx context.Context) (*stack, map[int64]string, error) {
	names, err := s.names(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, s.close())
	}
	return s, names, nil
}

// names completes the index and maps records to the paths they came from.
func (s *stack) names(ctx context.Context) (map[int64]string, error) {
	if _, err := s.follower.CatchUp(ctx); err != nil {
		return nil, err
	}
	s.follower.MarkReady()
	records, _, err := s.store.List(ctx, catalog.ListQuery{})
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

func printJSON(w io.Writer, reports []eval.Report) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if len(reports) == 1 {
		return enc.Encode(reports[0])
	}
	return enc.Encode(reports)
}

func printReports(w io.Writer, reports []eval.Report) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "COLLECTION\tPROFILE\tKIND\tQUERIES\tNDCG@10\tRECALL@100\tMRR\tJUDGED@10\tP50 MS\tP99 MS")
	for _, r := range reports {
		fmt.Fprintf(tw, "%s\t%s\tall\t%d\t%.4f\t%.4f\t%.4f\t%.3f\t%.2f\t%.2f\n", r.Collection, r.Profile, r.Queries, r.NDCG10, r.Recall100, r.MRR, r.Judged10, r.P50Ms, r.P99Ms)
		for _, name := range slices.Sorted(maps.Keys(r.Kinds)) {
			k := r.Kinds[name]
			fmt.Fprintf(tw, "\t\t%s\t%d\t%.4f\t%.4f\t%.4f\t%.3f\t\t\n", name, k.Queries, k.NDCG10, k.Recall100, k.MRR, k.Judged10)
		}
	}
	return tw.Flush()
}
