package workbench

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
)

// Run is one stored evaluation. Its Profile is the name that was asked for, without
// the revision's number; that of its report is a name that means the same later:
// of ranking.Live what was in force.
type Run struct {
	catalog.Evaluation
	Report eval.Report
}

// Keep stores reports that were not measured by a job, as runs of the case that
// their collection is named after; as has what they have in common. ErrNotFound if
// there is no such case.
func Keep(ctx context.Context, store *sqlstore.Store, reports []eval.Report, as catalog.Evaluation) error {
	as.At = time.Now()
	for _, r := range reports {
		c, err := CaseNamed(ctx, store, r.Collection)
		if err != nil {
			return err
		}
		run := Run{as, r}
		run.Case, run.Profile = c.ID, r.Profile
		if n, saved := ranking.ParseName(r.Profile); saved {
			run.Profile, run.Revision = n.Profile, n.Number
		} else if r.Profile == ranking.Live {
			live, _, err := ranking.InForce(ctx, store)
			if err != nil {
				return err
			}
			run.Report.Profile, run.Revision = live.Profile(), live.Of(catalog.ProfileRevision).Number
		}
		if _, err := Save(ctx, store, run); err != nil {
			return err
		}
	}
	return nil
}

// Save stores a run, with the rankings as deep as recall is measured, and returns
// its id.
func Save(ctx context.Context, store *sqlstore.Store, r Run) (int64, error) {
	queries := slices.Clone(r.Report.PerQuery)
	for i := range queries {
		queries[i].Ranking = queries[i].Ranking[:min(eval.RecallCut, len(queries[i].Ranking))]
	}
	summary, err := json.Marshal(r.Report)
	if err != nil {
		return 0, fmt.Errorf("experiment: %w", err)
	}
	data, err := json.Marshal(queries)
	if err != nil {
		return 0, fmt.Errorf("experiment: %w", err)
	}
	r.Summary, r.Data = string(summary), string(data)
	return store.AddEvaluation(ctx, r.Evaluation)
}

// Load reads a run with its queries. catalog.ErrNotFound.
func Load(ctx context.Context, store *sqlstore.Store, id int64) (Run, error) {
	e, err := store.Evaluation(ctx, id)
	if err != nil {
		return Run{}, err
	}
	return parse(e)
}

// ListRuns reads the runs of a case (0: of all), newest first, without their queries;
// limit 0 means all.
func ListRuns(ctx context.Context, store *sqlstore.Store, caseID int64, limit int) ([]Run, error) {
	list, err := store.Evaluations(ctx, caseID, limit)
	if err != nil {
		return nil, err
	}
	runs := make([]Run, len(list))
	for i, e := range list {
		if runs[i], err = parse(e); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

// parse reads what is stored of a run; its data may have been left out.
func parse(e catalog.Evaluation) (Run, error) {
	r := Run{Evaluation: e}
	err := json.Unmarshal([]byte(e.Summary), &r.Report)
	if err == nil && e.Data != "" {
		err = json.Unmarshal([]byte(e.Data), &r.Report.PerQuery)
	}
	r.Summary, r.Data = "", ""
	if err != nil {
		return r, fmt.Errorf("experiment: run %d: %w", e.ID, err)
	}
	return r, nil
}

// Difference is how one run differs from another.
type Difference struct {
	eval.Comparison         // of the queries that both measured
	Queries         int     // how many those are
	Jaccard         float64 // of the first ten, the mean over queries
	RBO             float64 // of eval.Persistence, the mean over queries
	Changes         []Change
}

// Change is how one query's ranking changed.
type Change struct {
	eval.Pair
	By           float64 // of nDCG@10; under 0 = worse
	Jaccard, RBO float64
}

// Compare returns how ours differs from theirs, the query that lost most first.
func Compare(ours, theirs Run) Difference {
	pairs := eval.Pairs(ours.Report.PerQuery, theirs.Report.PerQuery)
	d := Difference{Comparison: eval.ComparePairs(pairs), Queries: len(pairs)}
	d.Against = theirs.Report.Profile
	for _, p := range pairs {
		x := Change{Pair: p, By: p.Ours.NDCG10 - p.Theirs.NDCG10,
			Jaccard: eval.Jaccard(p.Ours.Ranking, p.Theirs.Ranking, eval.Cut),
			RBO:     eval.RBO(p.Ours.Ranking, p.Theirs.Ranking, eval.Persistence)}
		d.Jaccard += x.Jaccard / float64(len(pairs))
		d.RBO += x.RBO / float64(len(pairs))
		d.Changes = append(d.Changes, x)
	}
	slices.SortStableFunc(d.Changes, func(a, b Change) int { return cmp.Compare(a.By, b.By) })
	return d
}
