package workbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
)

// luck is the p-value from which a gain may be chance, so that the weights stay.
const luck = 0.05

// TuneTask is a profile to fit to a case.
type TuneTask struct {
	Case    int64     `json:"case"`
	Judges  []string  `json:"judges,omitempty"` // whose judgments count; none: all people
	Profile string    `json:"profile"`          // to start from; see ranking.Source.Named
	Name    string    `json:"name"`             // of the profile that a gain becomes a revision of
	Folds   int       `json:"folds"`
	Seed    uint64    `json:"seed"`
	L2      []float64 `json:"l2"` // penalties to try
}

// Kind implements Task.
func (TuneTask) Kind() string { return "tune" }

// Check returns an error for people if nothing can be fitted so.
func (a TuneTask) Check() error {
	switch {
	case a.Folds < 2 || a.Folds > 20:
		return errors.New("there must be 2 to 20 folds")
	case len(a.L2) == 0 || len(a.L2) > 10:
		return errors.New("there must be 1 to 10 penalties to try")
	case slices.ContainsFunc(a.L2, func(x float64) bool { return !(x > 0 && x < 1000) }):
		return errors.New("a penalty must be above 0")
	case !ranking.ValidName(a.Name):
		return fmt.Errorf("%q cannot be the name of a profile", a.Name)
	}
	return nil
}

// Fit is what a TuneTask found.
type Fit struct {
	TuneTask
	CaseName   string `json:"case_name"`
	Generation int64  `json:"generation"` // of the index
	Model      string `json:"model"`
	Version    string `json:"version"`
	// Saved is the revision of the fitted profile; nil: the gain out of fold may be
	// chance, so the profile it started from stays.
	Saved *ranking.Name `json:"saved,omitempty"`
	Learned
}

// Learned is what a tuning learned, and how well it holds on queries it has not seen.
type Learned struct {
	Penalty float64     `json:"penalty"` // the one that was taken
	All     FitPart     `json:"all"`
	Parts   []FitPart   `json:"collections,omitempty"` // if there are several
	Kinds   []FitPart   `json:"kinds"`                 // by the kinds that the case gives its queries
	Weights []FitWeight `json:"weights"`               // those that changed, the most first
	Same    []string    `json:"same"`                  // features whose weights stay
}

// FitPart is nDCG@10 of a part of the queries.
type FitPart struct {
	Name string `json:"name"`
	eval.TuningMeans
}

// Gains reports whether held-out queries gain more than by chance.
func (p FitPart) Gains() bool { return p.Difference > 0 && p.P < luck }

// FitWeight is a weight that the fit changed.
type FitWeight struct {
	Feature string  `json:"feature"`
	Before  float64 `json:"before"`
	After   float64 `json:"after"`
}

// tune fits the weights of a profile to a case by eval.Tune. If queries gain by weights
// that were fitted without them, more than by chance, the profile is saved as a
// revision, which is not published; otherwise nothing is. The same judgments,
// index, profile and seed give the same revision to the byte.
func (x Runner) tune(ctx context.Context, a TuneTask, by string, progress func(done, total int)) (f Fit, err error) {
	if err := a.Check(); err != nil {
		return f, err
	}
	f.TuneTask = a
	c, collection, err := Collection(ctx, x.Store, f.Case, f.Judges)
	if err != nil {
		return f, err
	}
	if n := len(collection.Queries); n < 2*f.Folds {
		return f, fmt.Errorf("case %s has %d judged queries: %d folds need %d", c.Name, n, f.Folds, 2*f.Folds)
	}
	base, err := x.Named(ctx, f.Profile)
	if err != nil {
		return f, err
	}
	if base.Name == ranking.Live {
		live, _, err := ranking.InForce(ctx, x.Store)
		if err != nil {
			return f, err
		}
		f.Profile = live.Profile()
	}
	if base.Profile.Order != "rerank" {
		return f, fmt.Errorf("the order of %s is %s: there are no weights to fit", f.Profile, base.Profile.Order)
	}
	t, err := x.fit(ctx, &f, base, collection, progress)
	if err != nil {
		return f, err
	}
	f.CaseName, f.Version, f.Model, f.Learned = c.Name, x.Version, x.Index.Status(ctx).Model, Describe(t)
	if f.All.Gains() {
		f.Saved, err = x.save(ctx, f, t, by)
	}
	return f, err
}

// fit computes the signals of a case's queries and fits weights.
func (x Runner) fit(ctx context.Context, f *Fit, base ranking.Named, c eval.Collection,
	progress func(done, total int)) (t eval.Tuning, err error) {
	var o eval.Options
	generation, indexed, err := x.Index.Indexed()
	if err == nil {
		o, err = Options(ctx, x.Store, c, indexed)
	}
	if err != nil {
		return t, err
	}
	queries, steps := len(c.Queries), len(f.L2)+2
	o.Relevance, o.Progress = &base.Relevance, func(done, _ int) { progress(done, queries+steps) }
	examples, err := eval.Examples(ctx, x.Index, c, o)
	if err != nil {
		return t, err
	}
	if now, _, err := x.Index.Indexed(); err != nil || now != generation {
		return t, errors.New("tune: another index began to serve meanwhile: run it again")
	}
	f.Generation = generation
	return eval.Tune(ctx, base.Profile, examples, eval.TuneOptions{L2: f.L2, Folds: f.Folds, Seed: f.Seed,
		Progress: func(done, _ int) { progress(queries+done, queries+steps) }})
}

// Describe says what a tuning learned.
func Describe(t eval.Tuning) Learned {
	l := Learned{Penalty: t.L2, All: FitPart{"all", t.Means(func(eval.Example) bool { return true })}}
	if names := t.Collections(); len(names) > 1 {
		for _, name := range names {
			l.Parts = append(l.Parts, FitPart{name, t.Means(func(x eval.Example) bool { return x.Collection == name })})
		}
	}
	kinds := map[string]bool{}
	for _, x := range t.Examples {
		kinds[x.Query.Kind] = true
	}
	delete(kinds, "")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		l.Kinds = append(l.Kinds, FitPart{kind, t.Means(func(x eval.Example) bool { return x.Query.Kind == kind })})
	}
	for i := range ranking.NumFeatures {
		w := FitWeight{ranking.Feature(i).String(), t.Before.Weights[i], t.Model.Weights[i]}
		if math.Abs(w.After-w.Before) < 5e-4 { // less than is shown
			l.Same = append(l.Same, w.Feature)
			continue
		}
		l.Weights = append(l.Weights, w)
	}
	slices.SortStableFunc(l.Weights, func(a, b FitWeight) int {
		return cmp.Compare(math.Abs(b.After-b.Before), math.Abs(a.After-a.Before))
	})
	return l
}

// Tables shows it: the gain by collection and by kind of query, and the weights.
func (l Learned) Tables() []eval.Table {
	collections := partTable("nDCG@10", l.Parts)
	addPart(&collections, l.All)
	weights := eval.Table{{"feature", "before", fmt.Sprintf("fitted (L2 %g)", l.Penalty)}}
	for _, w := range l.Weights {
		weights.Add(w.Feature, fmt.Sprintf("%.3f", w.Before), fmt.Sprintf("%.3f", w.After))
	}
	return []eval.Table{collections, partTable("kind of query", l.Kinds), weights}
}

// partTable has a row for each part. The difference is between out of fold and before.
func partTable(title string, parts []FitPart) eval.Table {
	t := eval.Table{{title, "queries", "before", "fitted", "out of fold", "collection left out", "difference", "p",
		"out of fold, collapsed", "left out, collapsed"}}
	for _, p := range parts {
		addPart(&t, p)
	}
	return t
}

func addPart(to *eval.Table, p FitPart) {
	four := func(mean *float64) string {
		if mean == nil {
			return "-"
		}
		return fmt.Sprintf("%.4f", *mean)
	}
	to.Add(p.Name, fmt.Sprint(p.Queries), four(&p.Before), four(&p.Fitted), four(&p.OutOfFold), four(p.LeftOut),
		fmt.Sprintf("%+.4f", p.Difference), four(&p.P), four(&p.ShownOutOfFold), four(p.ShownLeftOut))
}

// save saves the fitted profile as the newest revision of its name.
func (x Runner) save(ctx context.Context, f Fit, t eval.Tuning, by string) (*ranking.Name, error) {
	p := t.Profile()
	p.Name = f.Name
	p.Provenance = fmt.Sprintf("fitted from %s to the case %s, judged by %s; index %d, %d folds, seed %d, L2 %g; "+
		"nDCG@10 %.4f out of fold, %.4f before", f.Profile, f.CaseName, cmp.Or(strings.Join(f.Judges, ", "), "people"),
		f.Generation, f.Folds, f.Seed, f.Penalty, f.All.OutOfFold, f.All.Before)
	data, err := yaml.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	newest, err := x.Store.Revision(ctx, catalog.ProfileRevision, f.Name, 0)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return nil, err
	}
	saved, err := ranking.SaveProfile(ctx, x.Store, catalog.Revision{Name: f.Name, Base: newest.Number, By: by,
		Note: fmt.Sprintf("fitted to %s: %+.4f nDCG@10 out of fold, p = %.4f", f.CaseName, f.All.Difference, f.All.P),
		Data: string(data)})
	return new(ranking.NameOf(saved)), err
}

// Defaults are the folds, seed and penalties that `almanac tune` has too.
func Defaults() TuneTask {
	return TuneTask{Profile: ranking.Live, Name: ranking.DefaultName, Folds: 5, Seed: 1,
		L2: []float64{0.003, 0.01, 0.03, 0.1}}
}
