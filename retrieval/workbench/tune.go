package workbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
)

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
	eval.Learned
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
	if base.Profile.Order != ranking.Rerank {
		return f, fmt.Errorf("the order of %s is %s: there are no weights to fit", f.Profile, base.Profile.Order)
	}
	t, err := x.fit(ctx, &f, base, collection, progress)
	if err != nil {
		return f, err
	}
	f.CaseName, f.Version, f.Model, f.Learned = c.Name, x.Version, x.Index.Status(ctx).Model, t.Learned
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
