package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"almanac/retrieval/eval"
	"almanac/retrieval/profile"
	"almanac/retrieval/rerank"
)

type tuneCmd struct {
	Judged   []string  `help:"Judged collections with a corpus of their own." placeholder:"DIR"`
	Queries  []string  `help:"Judged queries over the data directory." placeholder:"DIR"`
	Profile  string    `placeholder:"NAME|FILE" help:"Profile to start from: its retrievers, rules and floor stay."`
	Seed     uint64    `help:"Seed of the folds." default:"1"`
	Folds    int       `help:"Number of folds." default:"5"`
	L2       []float64 `name:"l2" help:"Penalties to try; the best out of fold is taken." default:"0.003,0.01,0.03,0.1"`
	Classes  bool      `help:"Give classes of queries that gain by it, out of fold and beyond chance, weights of their own."`
	Out      string    `help:"Write the tuned profile to this file." placeholder:"FILE"`
	Markdown bool      `help:"Print Markdown."`
}

// Run fits the reranker's weights on all collections together and measures
// them on queries they were not fitted on. The same judgments, index, seed and
// profile to start from give the same profile to the byte.
func (c *tuneCmd) Run(ctx context.Context, a *app) error {
	if c.Folds < 2 || len(c.L2) == 0 || slices.Min(c.L2) <= 0 {
		return fmt.Errorf("%w: tune needs at least two folds and penalties above 0", errUsage)
	}
	sets, err := testSets(c.Judged, c.Queries)
	if err != nil {
		return err
	}
	base, err := profile.Load(cmp.Or(c.Profile, a.config.profile()))
	if err != nil {
		return err
	}
	if base.Order != "rerank" {
		return fmt.Errorf("%w: the order of profile %s is %s: there are no weights to fit", errUsage,
			base.Name, base.Order)
	}
	var examples []eval.Example
	for _, set := range sets {
		more, err := a.examples(ctx, set, base)
		if err != nil {
			return err
		}
		if len(more) < c.Folds {
			fmt.Fprintf(a.err, "%s: only %d queries for %d folds: its share of the measurement says little\n",
				set.name, len(more), c.Folds)
		}
		examples = append(examples, more...)
	}
	bar := a.progress("fit")
	t, err := eval.Tune(ctx, base, examples, eval.TuneOptions{
		L2: c.L2, Folds: c.Folds, Seed: c.Seed, Classes: c.Classes, Progress: bar.set,
	})
	bar.done()
	if err != nil {
		return err
	}
	collections := valueTable(t, "nDCG@10", t.Collections(), func(x eval.Example) string { return x.Collection })
	addMeans(&collections, "mean", t, func(eval.Example) bool { return true })
	classes := valueTable(t, "class of query", t.ClassNames(), func(x eval.Example) string { return x.Class })
	if err := printTables(a.out, c.Markdown, collections, classes, ownTable(t), weightTable(t)); err != nil {
		return err
	}
	if c.Out == "" {
		return nil
	}
	return c.write(t, sets)
}

// examples opens a set and computes the signals of its queries.
func (a *app) examples(ctx context.Context, set testSet, base profile.Profile) ([]eval.Example, error) {
	collection, err := set.load("")
	if err != nil {
		return nil, err
	}
	s, names, err := a.openSet(ctx, set, collection, []profile.Profile{base})
	if err != nil {
		return nil, err
	}
	bar := a.progress(collection.Name + " signals")
	examples, err := eval.Examples(ctx, s.Searcher, collection, eval.Options{Profile: base.Name, Names: names, Progress: bar.set})
	bar.done()
	return examples, errors.Join(err, s.close())
}

// write writes the tuned profile.
func (c *tuneCmd) write(t eval.Tuning, sets []testSet) error {
	names := make([]string, len(sets))
	for i, set := range sets {
		names[i] = set.name
	}
	all := t.Means(func(eval.Example) bool { return true })
	p := t.Profile()
	p.Name = stem(c.Out)
	p.Provenance = fmt.Sprintf("almanac tune on %s; %d folds, seed %d, L2 %g; nDCG@10 %.4f out of fold, %.4f before",
		strings.Join(names, ", "), c.Folds, c.Seed, t.L2, all.OutOfFold, all.Before)
	data, err := yaml.Marshal(p)
	if err != nil {
		return err
	}
	return replaceFile(c.Out, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// addMeans adds the means of a part of the examples to a table of values.
func addMeans(to *table, name string, t eval.Tuning, part func(eval.Example) bool) {
	m := t.Means(part)
	orNone := func(mean *float64) string {
		if mean == nil {
			return "-"
		}
		return four(*mean)
	}
	to.add(name, fmt.Sprint(m.Queries), four(m.Before), four(m.Fitted), four(m.OutOfFold), orNone(m.LeftOut),
		fmt.Sprintf("%+.4f", m.Comparison.Difference), four(m.Comparison.P), four(m.ShownOutOfFold), orNone(m.ShownLeftOut))
}

// valueHeader names the columns of addMeans; the difference is of out of fold
// with before.
var valueHeader = []string{"queries", "before", "fitted", "out of fold", "collection left out", "difference", "p",
	"out of fold, collapsed", "left out, collapsed"}

func collectionTable(t eval.Tuning) table {
	to := table{slices.Concat([]string{"nDCG@10"}, valueHeader)}
	for _, name := range t.Collections() {
		addMeans(&to, name, t, func(x eval.Example) bool { return x.Collection == name })
	}
	addMeans(&to, "mean", t, func(eval.Example) bool { return true })
	return to
}

// valueTable has a row a part of the examples, of is the part of an example; in
// each, every collection counts the same.
func valueTable(t eval.Tuning, title string, parts []string, of func(eval.Example) string) table {
	to := table{slices.Concat([]string{title}, valueHeader)}
	for _, name := range parts {
		addMeans(&to, name, t, func(x eval.Example) bool { return of(x) == name })
	}
	return to
}

// ownTable says what weights of their own do for classes, out of fold.
func ownTable(t eval.Tuning) table {
	to := table{{"own weights for", "queries", "gain out of fold", "p", "taken"}}
	for _, f := range t.Classes {
		verdict := "no"
		if f.Taken() {
			verdict = "yes"
		}
		to.add(f.Class, fmt.Sprint(f.Queries), fmt.Sprintf("%+.4f", f.Difference), four(f.P), verdict)
	}
	return to
}

func weightTable(t eval.Tuning) table {
	to := table{{"feature", "before", fmt.Sprintf("fitted (L2 %g)", t.L2)}}
	own := t.TakenClasses()
	for _, f := range own {
		to[0] = append(to[0], f.Class)
	}
	weight := func(m rerank.Model, f int) string { return fmt.Sprintf("%.3f", m.Weights[f]) }
	for i := range rerank.NumFeatures {
		row := []string{rerank.Feature(i).String(), weight(t.Before, i), weight(t.Model, i)}
		for _, f := range own {
			row = append(row, weight(f.Model, i))
		}
		to.add(row...)
	}
	return to
}
