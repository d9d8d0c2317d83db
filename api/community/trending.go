package community

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// Trending is the content of the last week, ranked by engagement.
type Trending struct {
	WindowDays int       `json:"window_days"`
	Items      []Trend   `json:"items"`
	Total      int       `json:"total" doc:"number of records with any engagement"`
	AsOf       time.Time `json:"as_of"`
	Method     string    `json:"method"`
}

// Head says how many there are in all.
func (t Trending) Head() (total int, hint string) { return t.Total, "" }

// Trend is one trending record.
type Trend struct {
	kb.Item
	Score   float64 `json:"score" doc:"comparable across kinds"`
	NewBits int     `json:"new" doc:"posts, messages or comments within the window"`
	Fresh   bool    `json:"fresh" doc:"created within the window"`
}

// What REST shows, and how long scores are cached: they halve in two days.
const trendsShown, trendsAge = 20, 15 * time.Minute

type trendingIn struct {
	Limit int `json:"limit" rest:"-" unlisted:"true" default:"20" minimum:"1" maximum:"100" doc:"how many to return"`
}

var trending = kb.New(op.Spec{
	ID: "get_trending", Path: "/api/v1/trending", Tool: "get_trending", Kinds: trendingKinds,
	Doc: `
What is trending
Content of the last week, ranked by engagement.

Ranks the last week's content by an engagement score: new posts, messages, comments, votes and views, weighted
by age. For a plain list of what is new use get_recent_changes.
`,
}, func(ctx context.Context, b kb.Base, in trendingIn) (Trending, error) {
	trends, at, err := kb.Derived(ctx, b, "trending", trendsAge, func(ctx context.Context) ([]trend, error) {
		now := b.Now()
		records, _, err := b.Catalog.List(ctx, catalog.ListQuery{
			Kinds: slices.Concat(trendingKinds, trendingChildren), Since: now.Add(-trendingWindow),
		})
		if err != nil {
			return nil, err
		}
		parents, err := b.Catalog.Heads(ctx, missingParents(records))
		return trendsOf(append(records, parents...), now), err
	})
	out := Trending{
		WindowDays: int(trendingWindow.Hours() / 24), Total: len(trends), AsOf: at,
		Method: "Engagement decays with a half-life of two days and is compared with the mean of its kind.",
	}
	for _, t := range trends[:min(cmp.Or(in.Limit, trendsShown), len(trends))] {
		out.Items = append(out.Items, Trend{b.Item(t.Record), kb.Score(t.Score), t.New, t.Fresh})
	}
	return out, err
})

// trendingWindow is the period that trending covers.
const trendingWindow = 7 * 24 * time.Hour

// Weights, relative to that of a new record, which is 1. Votes and views are totals
// without times, so they are taken as spread evenly over the record's life.
const (
	halfLife    = 48 * time.Hour
	weightVote  = 0.5
	weightView  = 0.25 // of the binary logarithm: views differ by orders of magnitude
	weightReply = 0.5  // that is counted but not indexed
)

// trendingKinds are the kinds that can trend; trendingChildren the kinds of
// their children that count.
var (
	trendingKinds = append(catalog.KindsOf(catalog.RoleThread, catalog.RoleWork, catalog.RoleProposal,
		catalog.RolePublication), catalog.KindRelease)
	trendingChildren = catalog.KindsOf(catalog.RoleMessage)
)

// trend is how much activity there is around a record.
type trend struct {
	Record catalog.Record // its body may be empty
	Score  float64        // comparable across kinds; above 0
	New    int            // posts, messages or comments in the window
	Fresh  bool           // the record itself was created in the window
}

// trendsOf ranks records of trendingKinds by the activity around them in the
// week before now, most first. The records are those of both lists of kinds
// that were created in the window, and the parents of the children among them;
// all may lack their bodies and be in any order. Records without activity are
// left out.
//
// Engagement decays exponentially with a half-life of two days (the weighting
// of Cormode, Shkapenyuk, Srivastava and Xu, "Forward Decay", ICDE 2009):
//
//	e = d(created) + Σ children d(created) + d(last activity) · share · (votes/2 + log2(1+views)/4 + replies/2)
//
// where d(t) = 2^-(age/48h) within the window and 0 before it, share is the
// part of the record's life that lies in the window, and replies count only if
// they are not among the children. The score is log2(1 + e/ē) with ē the mean
// of the kind, at least 1: it measures a record's activity relative to its
// kind, so that a kind with many replies does not crowd out the others, and a
// quiet kind does not lift its few.
func trendsOf(records []catalog.Record, now time.Time) []trend {
	children := map[int64][]catalog.Record{}
	tops := map[int64]catalog.Record{}
	for _, r := range records {
		switch {
		case r.Parent != 0 && slices.Contains(trendingChildren, r.Kind):
			children[r.Parent] = append(children[r.Parent], r)
		case r.Parent == 0 && slices.Contains(trendingKinds, r.Kind):
			tops[r.ID] = r
		}
	}
	var trends []trend
	sum, number := map[catalog.Kind]float64{}, map[catalog.Kind]float64{}
	for _, id := range slices.Sorted(maps.Keys(tops)) {
		r := tops[id]
		t := trend{Record: r, Fresh: decay(r.CreatedAt, now) > 0}
		if t.Score, t.New = engagement(r, children[id], now); t.Score <= 0 {
			continue
		}
		sum[r.Kind] += t.Score
		number[r.Kind]++
		trends = append(trends, t)
	}
	for i, t := range trends {
		trends[i].Score = math.Log2(1 + t.Score/max(1, sum[t.Record.Kind]/number[t.Record.Kind]))
	}
	slices.SortFunc(trends, func(a, b trend) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Record.ID, b.Record.ID))
	})
	return trends
}

// missingParents returns the ids of the parents of records that are not among
// them, each once.
func missingParents(records []catalog.Record) (ids []int64) {
	there := map[int64]bool{0: true}
	for _, r := range records {
		there[r.ID] = true
	}
	for _, r := range records {
		if !there[r.Parent] {
			there[r.Parent] = true
			ids = append(ids, r.Parent)
		}
	}
	return ids
}

// engagement is the activity around a record and its number of new children.
func engagement(r catalog.Record, children []catalog.Record, now time.Time) (float64, int) {
	e := decay(r.CreatedAt, now)
	recent := 0
	last := r.CreatedAt
	for _, c := range children {
		d := decay(c.CreatedAt, now)
		if d > 0 {
			recent++
		}
		e += d
		if c.CreatedAt.After(last) {
			last = c.CreatedAt
		}
	}
	if r.LastActivityAt.After(last) {
		last = r.LastActivityAt
	}
	if age := now.Sub(r.CreatedAt); !r.CreatedAt.IsZero() && age >= 0 {
		share := 1.0
		if age > trendingWindow {
			share = float64(trendingWindow) / float64(age)
		}
		counted := weightVote*float64(max(0, r.Votes)) + weightView*math.Log2(1+float64(max(0, r.Views)))
		if len(children) == 0 {
			counted += weightReply * float64(max(0, r.Replies))
		}
		e += decay(last, now) * share * counted
	}
	return e, recent
}

// decay is 1 now, half of it two days ago, and 0 outside the window.
func decay(t, now time.Time) float64 {
	age := now.Sub(t)
	if t.IsZero() || age < 0 || age >= trendingWindow {
		return 0
	}
	return math.Exp2(-float64(age) / float64(halfLife))
}
