package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
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

// What weights of its own must bring a class of queries out of fold: so much
// nDCG@10, with so small a chance (of Compare) that it is luck. A class of few
// queries gains or loses a hundredth by luck.
const (
	classGain = 0.003
	classLuck = 0.05
)

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
		return fmt.Errorf("%w: the order of profile %s is %s: there are no weights to fit", errUsage, base.Name, base.Order)
	}
	var examples []eval.Example
	for _, set := range sets {
		more, err := a.examples(ctx, set, base)
		if err != nil {
			return err
		}
		if len(more) < c.Folds {
			fmt.Fprintf(a.err, "%s: only %d queries for %d folds: its share of the measurement says little\n", set.name, len(more), c.Folds)
		}
		examples = append(examples, more...)
	}
	t, err := c.fit(ctx, a, base, examples)
	if err != nil {
		return err
	}
	if err := printTables(a.out, c.Markdown, t.collectionTable(), t.classTable(), t.ownTable(), t.weightTable()); err != nil {
		return err
	}
	if c.Out == "" {
		return nil
	}
	return c.write(t, sets)
}

// examples opens a set and computes the signals of its queries.
func (a *app) examples(ctx context.Context, set testSet, base profile.Profile) ([]eval.Example, error) {
	collection, err := eval.Load(set.dir)
	if err != nil {
		return nil, err
	}
	s, names, err := a.openSet(ctx, set, []profile.Profile{base})
	if err != nil {
		return nil, err
	}
	bar := a.progress(collection.Name + " signals")
	examples, err := eval.Examples(ctx, s.Searcher, collection, eval.Options{Profile: base.Name, Names: names, Progress: bar.set})
	bar.done()
	return examples, errors.Join(err, s.close())
}

// tuned is the outcome of a tuning.
type tuned struct {
	base     profile.Profile
	before   rerank.Model
	examples []eval.Example
	l2       float64
	model    rerank.Model
	own      []eval.ClassFit // of classes, where asked for

	// nDCG@10 of every example with the weights as they were, with weights that
	// saw it, that did not, and that saw nothing of its collection (nil where
	// there is one); of the latter two also with copies collapsed, as users see
	// them.
	was, fitted, outOfFold, leftOut, shownOutOfFold, shownLeftOut eval.Values
}

func featureVector(weights map[string]float64) (v rerank.Vector) {
	for name, w := range weights {
		if f, ok := rerank.FeatureNamed(name); ok {
			v[f] = w
		}
	}
	return v
}

// fit chooses the penalty with the best mean over collections out of fold,
// then fits with it on everything.
func (c *tuneCmd) fit(ctx context.Context, a *app, base profile.Profile, examples []eval.Example) (t tuned, err error) {
	t = tuned{base: base, examples: examples}
	o := eval.TrainOptions{Fixed: featureVector(base.Fixed), Skip: map[rerank.Feature]bool{}}
	for _, name := range base.Unweighted {
		f, ok := rerank.FeatureNamed(name)
		if !ok {
			return t, fmt.Errorf("profile %s: there is no feature %q", base.Name, name)
		}
		o.Skip[f] = true
	}
	bar := a.progress("fit")
	defer bar.done()
	steps := len(c.L2) + 3
	top := math.Inf(-1)
	for i, l2 := range c.L2 {
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		o.L2 = l2
		values, err := eval.OutOfFold(examples, o, eval.Example.NDCG, c.Folds, c.Seed)
		if err != nil {
			return t, err
		}
		if mean := values.Held(examples).Mean(); mean > top {
			top, t.l2, t.outOfFold = mean, l2, values
		}
		bar.set(i+1, steps)
	}
	o.L2 = t.l2
	if t.model, err = eval.Train(examples, o); err != nil {
		return t, err
	}
	bar.set(len(c.L2)+1, steps)
	t.before = rerank.Model{Weights: featureVector(base.Weights), Fixed: o.Fixed}
	t.was, t.fitted = scoreBefore(base, examples, t.before), eval.Score(examples, t.model, eval.Example.NDCG)
	if t.shownOutOfFold, err = eval.OutOfFold(examples, o, eval.Example.Shown, c.Folds, c.Seed); err != nil {
		return t, err
	}
	if len(t.was.Held(examples)) > 1 {
		if t.leftOut, err = eval.LeftOut(examples, o, eval.Example.NDCG); err != nil {
			return t, err
		}
		if t.shownLeftOut, err = eval.LeftOut(examples, o, eval.Example.Shown); err != nil {
			return t, err
		}
	}
	bar.set(len(c.L2)+2, steps)
	if c.Classes {
		t.own, err = eval.FitClasses(examples, t.model, t.outOfFold, o, c.Folds, c.Seed)
	}
	return t, err
}

// scoreBefore measures a profile's weights, with those of its classes.
func scoreBefore(base profile.Profile, examples []eval.Example, common rerank.Model) eval.Values {
	out := eval.Score(examples, common, eval.Example.NDCG)
	for i, x := range examples {
		if own, ok := base.Classes[x.Class]; ok {
			out[i] = x.NDCG(rerank.Model{Weights: featureVector(own), Fixed: common.Fixed})
		}
	}
	return out
}

// row is a line of the tables of values: a part of the examples.
func (t tuned) row(to *table, name string, part func(eval.Example) bool) {
	var examples []eval.Example
	var was, fitted, outOfFold, leftOut, shownOutOfFold, shownLeftOut eval.Values
	for i, x := range t.examples {
		if !part(x) {
			continue
		}
		examples, was, fitted, outOfFold = append(examples, x), append(was, t.was[i]), append(fitted, t.fitted[i]), append(outOfFold, t.outOfFold[i])
		shownOutOfFold = append(shownOutOfFold, t.shownOutOfFold[i])
		if t.leftOut != nil {
			leftOut, shownLeftOut = append(leftOut, t.leftOut[i]), append(shownLeftOut, t.shownLeftOut[i])
		}
	}
	mean := func(v eval.Values) string {
		if v == nil {
			return "-"
		}
		return four(v.Held(examples).Mean())
	}
	c := eval.Compare(outOfFold, was, eval.Balance(examples))
	to.add(name, fmt.Sprint(len(examples)), mean(was), mean(fitted), mean(outOfFold), mean(leftOut), fmt.Sprintf("%+.4f", c.Difference), four(c.P), mean(shownOutOfFold), mean(shownLeftOut))
}

// valueHeader names the columns of row; the difference is of out of fold
// against before.
var valueHeader = []string{"queries", "before", "fitted", "out of fold", "collection left out", "difference", "p", "out of fold, collapsed", "left out, collapsed"}

func (t tuned) collectionTable() table {
	to := table{slices.Concat([]string{"nDCG@10"}, valueHeader)}
	for _, name := range slices.Sorted(maps.Keys(t.was.Held(t.examples))) {
		t.row(&to, name, func(x eval.Example) bool { return x.Collection == name })
	}
	t.row(&to, "mean", func(eval.Example) bool { return true })
	return to
}

// classTable has a row a class of queries; in each, every collection that has
// such queries counts the same.
func (t tuned) classTable() table {
	to := table{slices.Concat([]string{"class of query"}, valueHeader)}
	classes := map[string]bool{}
	for _, x := range t.examples {
		classes[x.Class] = true
	}
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		t.row(&to, name, func(x eval.Example) bool { return x.Class == name })
	}
	return to
}

// ownTable says what weights of their own do for classes, out of fold.
func (t tuned) ownTable() table {
	to := table{{"own weights for", "queries", "gain out of fold", "p", "taken"}}
	for _, f := range t.own {
		verdict := "no"
		if taken(f) {
			verdict = "yes"
		}
		to.add(f.Class, fmt.Sprint(f.Queries), fmt.Sprintf("%+.4f", f.Difference), four(f.P), verdict)
	}
	return to
}

func (t tuned) weightTable() table {
	to := table{{"feature", "before", fmt.Sprintf("fitted (L2 %g)", t.l2)}}
	own := t.takenClasses()
	for _, f := range own {
		to[0] = append(to[0], f.Class)
	}
	for i := range rerank.NumFeatures {
		row := []string{rerank.Feature(i).String(), fmt.Sprintf("%.3f", t.before.Weights[i]), fmt.Sprintf("%.3f", t.model.Weights[i])}
		for _, f := range own {
			row = append(row, fmt.Sprintf("%.3f", f.Model.Weights[i]))
		}
		to.add(row...)
	}
	return to
}

func taken(f eval.ClassFit) bool { return f.Difference >= classGain && f.P <= classLuck }

// takenClasses are the classes that get weights of their own.
func (t tuned) takenClasses() []eval.ClassFit {
	return slices.DeleteFunc(slices.Clone(t.own), func(f eval.ClassFit) bool { return !taken(f) })
}

// write writes the tuned profile: everything of the base but its weights.
func (c *tuneCmd) write(t tuned, sets []testSet) error {
	p := t.base
	p.Name = stem(c.Out)
	p.Version++
	p.Weights, p.Classes = weightsOf(t.model), nil
	for _, f := range t.takenClasses() {
		if p.Classes == nil {
			p.Classes = map[string]map[string]float64{}
		}
		p.Classes[f.Class] = weightsOf(f.Model)
	}
	names := make([]string, len(sets))
	for i, set := range sets {
		names[i] = set.name
	}
	p.Provenance = fmt.Sprintf("almanac tune on %s; %d folds, seed %d, L2 %g; nDCG@10 %.4f out of fold, %.4f before",
		strings.Join(names, ", "), c.Folds, c.Seed, t.l2, t.outOfFold.Held(t.examples).Mean(), t.was.Held(t.examples).Mean())
	data, err := yaml.Marshal(p)
	if err != nil {
		return err
	}
	return replaceFile(c.Out, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// weightsOf returns a model's weights by name, rounded to what matters.
func weightsOf(m rerank.Model) map[string]float64 {
	weights := map[string]float64{}
	for f := range rerank.NumFeatures {
		if w := math.Round(m.Weights[f]*1e4) / 1e4; w != 0 {
			weights[rerank.Feature(f).String()] = w
		}
	}
	return weights
}
