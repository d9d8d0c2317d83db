package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"

	"almanac/retrieval/eval"
	"almanac/retrieval/profile"
	"almanac/retrieval/rerank"
)

type tuneCmd struct {
	Judged  []string  `help:"Judged collections with a corpus of their own." placeholder:"DIR"`
	Queries []string  `help:"Judged queries over the data directory." placeholder:"DIR"`
	Profile string    `help:"Profile to start from: its retrievers, rules and floor stay." default:"default"`
	Seed    uint64    `help:"Seed of the folds." default:"1"`
	Folds   int       `help:"Number of folds." default:"5"`
	L2      []float64 `help:"Penalties to try; the best out of fold is taken." default:"0.003,0.01,0.03,0.1"`
	Out     string    `help:"Write the tuned profile to this file." placeholder:"FILE"`
}

// Run fits the reranker's weights on all collections together and measures
// them on queries they were not fitted on.
func (c *tuneCmd) Run(ctx context.Context, a *app) error {
	if len(c.Judged)+len(c.Queries) == 0 {
		return fmt.Errorf("%w: tune needs --judged or --queries", errUsage)
	}
	if c.Folds < 2 || len(c.L2) == 0 {
		return fmt.Errorf("%w: tune needs at least two folds and one penalty", errUsage)
	}
	base, err := profile.Load(c.Profile)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	var examples []eval.Example
	for i, dir := range append(slices.Clone(c.Judged), c.Queries...) {
		more, err := a.examples(ctx, dir, i < len(c.Judged), c.Profile, base.Name)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.err, "%s: %d queries\n", filepath.Base(dir), len(more))
		examples = append(examples, more...)
	}
	o := eval.TrainOptions{Fixed: featureVector(base.Fixed), Skip: map[rerank.Feature]bool{}}
	for _, name := range base.Unweighted {
		if f, ok := rerank.FeatureNamed(name); ok {
			o.Skip[f] = true
		}
	}
	o.L2, err = c.choose(examples, o)
	if err != nil {
		return err
	}
	model, err := eval.Train(examples, o)
	if err != nil {
		return err
	}
	if err := c.report(a, examples, o, model, base); err != nil {
		return err
	}
	if c.Out == "" {
		return nil
	}
	return c.write(base, model, o.L2)
}

// examples opens a collection and computes its signals.
func (a *app) examples(ctx context.Context, dir string, judged bool, profileFile, name string) ([]eval.Example, error) {
	collection, err := eval.Load(dir)
	if err != nil {
		return nil, err
	}
	var s *stack
	var names map[int64]string
	if judged {
		s, names, err = a.judgedStack(ctx, dir, []string{profileFile})
	} else {
		s, names, err = a.networkStack(ctx, []string{profileFile})
	}
	if err != nil {
		return nil, err
	}
	examples, err := eval.Examples(ctx, s.searcher, collection, eval.Options{Profile: name, Names: names})
	return examples, errors.Join(err, s.close())
}

func featureVector(weights map[string]float64) (v rerank.Vector) {
	for name, w := range weights {
		if f, ok := rerank.FeatureNamed(name); ok {
			v[f] = w
		}
	}
	return v
}

// choose returns the penalty with the best mean over collections, out of fold.
func (c *tuneCmd) choose(examples []eval.Example, o eval.TrainOptions) (best float64, err error) {
	top := -1.0
	for _, l2 := range c.L2 {
		o.L2 = l2
		held, err := eval.CrossValidate(examples, o, c.Folds, c.Seed)
		if err != nil {
			return 0, err
		}
		if m := held.Mean(); m > top {
			best, top = l2, m
		}
	}
	return best, nil
}

func (c *tuneCmd) report(a *app, examples []eval.Example, o eval.TrainOptions, model rerank.Model, base profile.Profile) error {
	before := rerank.Model{Weights: featureVector(base.Weights), Fixed: o.Fixed}
	held, err := eval.CrossValidate(examples, o, c.Folds, c.Seed)
	if err != nil {
		return err
	}
	left, err := eval.LeaveOneOut(examples, o)
	if err != nil {
		return err
	}
	sets := map[string]eval.Held{"before": eval.Mean(examples, before), "fitted": eval.Mean(examples, model), "out of fold": held, "collection left out": left}
	columns := []string{"before", "fitted", "out of fold", "collection left out"}
	tw := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(tw, "NDCG@10\t%s\n", strings.ToUpper(strings.Join(columns, "\t")))
	row := func(name string, value func(eval.Held) float64) {
		fmt.Fprint(tw, name)
		for _, col := range columns {
			fmt.Fprintf(tw, "\t%.4f", value(sets[col]))
		}
		fmt.Fprintln(tw)
	}
	for _, name := range slices.Sorted(maps.Keys(held)) {
		row(name, func(h eval.Held) float64 { return h[name] })
	}
	row("mean", eval.Held.Mean)
	fmt.Fprintf(tw, "\nFEATURE\tWEIGHT (L2 %g)\n", o.L2)
	for f := range rerank.NumFeatures {
		fmt.Fprintf(tw, "%s\t%.3f\n", rerank.Feature(f), model.Weights[f])
	}
	return tw.Flush()
}

// write writes the tuned profile: everything of the base but its weights.
func (c *tuneCmd) write(base profile.Profile, model rerank.Model, l2 float64) error {
	base.Name = cmp.Or(strings.TrimSuffix(filepath.Base(c.Out), filepath.Ext(c.Out)), base.Name)
	base.Version++
	base.Weights, base.Classes = map[string]float64{}, nil
	for f := range rerank.NumFeatures {
		if w := model.Weights[f]; w != 0 {
			base.Weights[rerank.Feature(f).String()] = math.Round(w*1e4) / 1e4
		}
	}
	var names []string
	for _, dir := range append(slices.Clone(c.Judged), c.Queries...) {
		names = append(names, filepath.Base(dir))
	}
	base.Provenance = fmt.Sprintf("almanac tune on %s; %d folds, seed %d, L2 %g", strings.Join(names, ", "), c.Folds, c.Seed, l2)
	data, err := yaml.Marshal(base)
	if err != nil {
		return err
	}
	return os.WriteFile(c.Out, data, 0o644)
}
