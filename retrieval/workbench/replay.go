package workbench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
)

// maxReplayed is how many queries a replay searches for: those that people searched for most.
const maxReplayed = 300

// ReplayTask is a profile to try on what people searched for.
type ReplayTask struct {
	Profile string `json:"profile"` // see ranking.Source.Named
	Days    int    `json:"days"`    // of the searches, today being the last
}

// Kind implements Task.
func (ReplayTask) Kind() string { return "replay" }

// Replay is how much a profile changes of what people see.
type Replay struct {
	ReplayTask
	Against  string  `json:"against"`  // the profile that was live
	Searches int     `json:"searches"` // that the queries stand for
	RBO      float64 `json:"rbo"`      // of the first ten, the mean over searches
	Left     int     `json:"left"`     // queries that an engine did not answer: they are in no mean
	// Changes are the others by ReplayKey, the most changed first: jobs are kept longer than
	// the texts of searches may be.
	Changes []Replayed `json:"changes"`
}

// Replayed is how alike the two lists of a query are.
type Replayed struct {
	Key string  `json:"key"`
	RBO float64 `json:"rbo"` // of eval.Persistence
}

// ReplayKey stands for a query in a Replay.
func ReplayKey(query string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(query)))[:16] }

// replay searches for what people searched for with what is live and with a profile.
func (x Runner) replay(ctx context.Context, t ReplayTask, _ string, progress func(done, total int)) (Replay, error) {
	out := Replay{ReplayTask: t}
	live, _, err := ranking.InForce(ctx, x.Store)
	if err != nil {
		return out, err
	}
	before, err := x.Named(ctx, ranking.Live)
	if err != nil {
		return out, err
	}
	after, err := x.Named(ctx, t.Profile)
	if err != nil {
		return out, err
	}
	out.Against = live.Profile()
	counts, _, err := x.Store.Searches(ctx, catalog.SearchQuery{Since: time.Now().AddDate(0, 0, 1-t.Days),
		Limit: maxReplayed})
	for i, c := range counts {
		was, err := x.firstTen(ctx, c.Query, before)
		would, errAfter := x.firstTen(ctx, c.Query, after)
		switch err = cmp.Or(err, errAfter); {
		case ctx.Err() != nil || errors.Is(err, retrieval.ErrNotReady):
			return out, cmp.Or(ctx.Err(), err)
		case err != nil:
			out.Left++
		default:
			alike := eval.RBO(was, would, eval.Persistence)
			out.Changes = append(out.Changes, Replayed{ReplayKey(c.Query), alike})
			out.Searches, out.RBO = out.Searches+c.N, out.RBO+alike*float64(c.N)
		}
		progress(i+1, len(counts))
	}
	out.RBO /= float64(max(1, out.Searches))
	slices.SortStableFunc(out.Changes, func(a, b Replayed) int { return cmp.Compare(a.RBO, b.RBO) })
	return out, err
}

// firstTen returns the records of a query's first page; an answer without an engine is an error.
func (x Runner) firstTen(ctx context.Context, query string, with ranking.Named) (records []int64, err error) {
	found, err := x.Index.Search(ctx, retrieval.Request{Query: query, Limit: eval.Cut, Diversify: true,
		Relevance: &with.Relevance})
	if err == nil && len(found.Degraded) > 0 {
		err = fmt.Errorf("without %q", found.Degraded)
	}
	for _, r := range found.Results {
		records = append(records, r.Record)
	}
	return records, err
}
