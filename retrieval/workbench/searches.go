package workbench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
)

// Clicks replaces the judgments that clicks make in a case by those of the clicks
// since a day, and returns their number. What is expected at a place is counted over all
// queries, those outside the case too. Queries are compared without regard to case.
func Clicks(ctx context.Context, store *sqlstore.Store, c catalog.Case, since time.Time) (int, error) {
	counts, err := store.Clicks(ctx, since)
	if err != nil {
		return 0, err
	}
	queries, before, err := Content(ctx, store, c.ID)
	if err != nil {
		return 0, err
	}
	ids, judged := map[string]string{}, targets(before)
	for _, q := range queries {
		ids[folded(q.Text)] = q.ID
	}
	var judgments []catalog.Judgment
	for _, j := range before {
		if j.Judge == ClickJudge {
			j.Grade = -1
			judgments = append(judgments, j)
		}
	}
	graded := 0
	for i := range counts {
		counts[i].Query = folded(counts[i].Query)
	}
	for _, g := range COEC(counts) {
		id, ok := ids[g.Query]
		if !ok {
			continue
		}
		heads, err := store.Heads(ctx, []int64{g.Record})
		if err != nil {
			return 0, err
		}
		if len(heads) == 0 {
			continue
		}
		names, err := Targets(ctx, store, heads, judged)
		if err != nil {
			return 0, err
		}
		graded++
		judgments = append(judgments, catalog.Judgment{Query: id, Target: names[g.Record], Judge: ClickJudge, Grade: g.Grade,
			Note: fmt.Sprintf("%d clicks, %.1f expected", g.Clicks, g.Expected)})
	}
	return graded, store.PutJudgments(ctx, c.ID, judgments)
}

// folded is a query as it is compared.
func folded(query string) string { return strings.ToLower(strings.TrimSpace(query)) }

// minExpected is how many clicks must be expected of a document before what
// happened instead says something.
const minExpected = 3

// ClickGrade is what the clicks on a document of a query say.
type ClickGrade struct {
	Query    string
	Record   int64
	Clicks   int
	Expected float64 // clicks, had it been like what stands at its places
	Grade    int
}

// Ratio is clicks over expected clicks.
func (g ClickGrade) Ratio() float64 { return float64(g.Clicks) / g.Expected }

// COEC grades documents by clicks over expected clicks (Zhang, Jones: Comparing
// Click Logs and Editorial Labels for Training Query Rewriting, 2007): what is
// expected at a place is how often anything is clicked there, whatever the query, so
// that a document is not better for having been shown first. Grades are those of
// people: 0 below half of what is expected, 1 below all of it, 2 below twice, 3
// above. Documents with fewer than three expected clicks are left out.
func COEC(counts []catalog.ClickCount) []ClickGrade {
	shown, clicked := map[int]float64{}, map[int]float64{}
	for _, c := range counts {
		shown[c.Position] += float64(c.Shown)
		clicked[c.Position] += float64(c.Clicked)
	}
	type pair struct {
		query  string
		record int64
	}
	at := map[pair]int{}
	var all []ClickGrade
	for _, c := range counts {
		p := pair{c.Query, c.Record}
		i, known := at[p]
		if !known {
			i = len(all)
			at[p] = i
			all = append(all, ClickGrade{Query: c.Query, Record: c.Record})
		}
		all[i].Clicks += c.Clicked
		if shown[c.Position] > 0 {
			all[i].Expected += float64(c.Shown) * clicked[c.Position] / shown[c.Position]
		}
	}
	var out []ClickGrade
	for _, g := range all {
		if g.Expected < minExpected {
			continue
		}
		for _, from := range []float64{.5, 1, 2} {
			if g.Ratio() >= from {
				g.Grade++
			}
		}
		out = append(out, g)
	}
	return out
}

// The ways to choose queries out of those that were searched for.
const (
	SampleTop          = "top"          // the most frequent
	SampleRandom       = "random"       // each as likely as any other
	SampleProportional = "proportional" // each as likely as it is frequent
)

// Sample chooses n of counted queries without repeating one. Proportional to
// size is by weighted reservoir keys u^(1/frequency) (Efraimidis, Spirakis:
// Weighted random sampling with a reservoir, 2006). The same seed gives the same
// queries; they are returned most frequent first.
func Sample(counts []catalog.SearchCount, how string, n int, seed uint64) ([]catalog.SearchCount, error) {
	random := rand.New(rand.NewPCG(seed, uint64(len(counts))))
	keys := make(map[string]float64, len(counts))
	for _, c := range counts {
		u := random.Float64()
		switch how {
		case SampleTop:
			keys[c.Query] = float64(c.N)
		case SampleRandom:
			keys[c.Query] = u
		case SampleProportional:
			keys[c.Query] = math.Pow(u, 1/float64(max(1, c.N)))
		default:
			return nil, fmt.Errorf("eval: there is no way %q to sample queries", how)
		}
	}
	chosen := slices.SortedStableFunc(slices.Values(counts), func(a, b catalog.SearchCount) int {
		return cmp.Compare(keys[b.Query], keys[a.Query])
	})
	chosen = chosen[:min(max(0, n), len(chosen))]
	slices.SortStableFunc(chosen, func(a, b catalog.SearchCount) int { return b.N - a.N })
	return chosen, nil
}

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
