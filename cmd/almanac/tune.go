package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"almanac/cmd/config"
	"almanac/cmd/terminal"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
)

type tuneCmd struct {
	Judged   []string  `help:"Judged collections with documents." placeholder:"DIR"`
	Queries  []string  `help:"Judged queries over the data directory." placeholder:"DIR"`
	Profile  string    `placeholder:"PROFILE" help:"Profile to start from; its retrievers, rules and floor are kept."`
	Seed     uint64    `help:"Seed of the folds." default:"1"`
	Folds    int       `help:"Number of folds." default:"5"`
	L2       []float64 `name:"l2" help:"Penalties to try; the best out of fold is used." default:"0.003,0.01,0.03,0.1"`
	Out      string    `help:"Write the tuned profile to this file, if it holds on unseen queries." placeholder:"FILE"`
	Force    bool      `help:"Write it even if it does not."`
	Markdown bool      `help:"Print Markdown." xor:"form"`
	JSON     bool      `name:"json" help:"Print JSON." xor:"form"`
}

// Run fits the reranker's weights to all collections together and measures them
// on held-out queries. It is deterministic for the same judgments, index, seed
// and initial profile.
func (c *tuneCmd) Run(ctx context.Context, a *app) error {
	if c.Folds < 2 || len(c.L2) == 0 || slices.Min(c.L2) <= 0 {
		return fmt.Errorf("%w: tune needs at least two folds and penalties above 0", config.ErrUsage)
	}
	sets, err := testSets(c.Judged, c.Queries)
	if err != nil {
		return err
	}
	base, err := a.profile(ctx, cmp.Or(c.Profile, a.config.ProfileName()))
	if err != nil {
		return err
	}
	if base.Order != "rerank" {
		return fmt.Errorf("%w: the order of profile %s is %s: there are no weights to fit", config.ErrUsage,
			base.Name, base.Order)
	}
	var examples []eval.Example
	for _, set := range sets {
		more, err := a.examples(ctx, set, base)
		if err != nil {
			return err
		}
		if len(more) < c.Folds {
			fmt.Fprintf(a.err, "%s: only %d queries for %d folds: its measurement is unreliable\n",
				set.name, len(more), c.Folds)
		}
		examples = append(examples, more...)
	}
	bar := a.progress("fit")
	t, err := eval.Tune(ctx, base, examples, eval.TuneOptions{
		L2: c.L2, Folds: c.Folds, Seed: c.Seed, Progress: bar.Set,
	})
	bar.End()
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(a.out, t.Learned)
	} else {
		err = terminal.Tables(a.out, c.Markdown, t.Tables()...)
	}
	if err != nil || c.Out == "" {
		return err
	}
	if all := t.All; !c.Force && !all.Gains() {
		return fmt.Errorf("no better on queries that it has not seen (nDCG@10 %.4f before, %.4f out of fold, p = %.4f): "+
			"%s is not written; --force writes it", all.Before, all.OutOfFold, all.P, c.Out)
	}
	return c.write(t, sets)
}

// examples opens a set and computes the signals of its queries.
func (a *app) examples(ctx context.Context, set testSet, base ranking.Profile) ([]eval.Example, error) {
	collection, err := set.load("")
	if err != nil {
		return nil, err
	}
	s, o, err := a.openSet(ctx, set, collection, []ranking.Profile{base})
	if err != nil {
		return nil, err
	}
	bar := a.progress(collection.Name + " signals")
	o.Profile, o.Progress = base.Name, bar.Set
	examples, err := eval.Examples(ctx, s.Searcher, collection, o)
	bar.End()
	return examples, errors.Join(err, s.close())
}

// write writes the tuned profile.
func (c *tuneCmd) write(t eval.Tuning, sets []testSet) error {
	names := make([]string, len(sets))
	for i, set := range sets {
		names[i] = set.name
	}
	p := t.Profile()
	p.Name = stem(c.Out)
	p.Provenance = fmt.Sprintf("almanac tune on %s; %d folds, seed %d, L2 %g; nDCG@10 %.4f out of fold, %.4f before",
		strings.Join(names, ", "), c.Folds, c.Seed, t.Penalty, t.All.OutOfFold, t.All.Before)
	data, err := yaml.Marshal(p)
	if err != nil {
		return err
	}
	return replaceFile(c.Out, data)
}
