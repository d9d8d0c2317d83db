package community

import (
	"context"
	"slices"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
)

var trendingSpec = op.Spec{
	ID: "get_trending", Path: "/api/v1/trending", Tool: "get_trending", Title: "What is trending",
	Summary: "Content of the last week, ranked by engagement.",
	Description: "Ranks the last week's content by an engagement score: new posts, messages, comments, votes and views, " +
		"weighted by age. For a plain list of what is new use get_recent_changes.",
}

// Trending is the content of the last week, liveliest first.
type Trending struct {
	WindowDays int       `json:"window_days"`
	Items      []Trend   `json:"items"`
	Total      int       `json:"total" doc:"number of records with any engagement"`
	AsOf       time.Time `json:"as_of"`
	Method     string    `json:"method"`
}

// Trend is one record of them.
type Trend struct {
	kb.Item
	Score   float64 `json:"score" doc:"comparable across kinds"`
	NewBits int     `json:"new" doc:"posts, messages or comments within the window"`
	Fresh   bool    `json:"fresh" doc:"created within the window"`
}

const (
	trendsShown = 20
	// trendsAge is how long scores may be kept: they halve in two days.
	trendsAge = 15 * time.Minute
)

func (s service) trending(ctx context.Context, _ struct{}) (Trending, error) {
	trends, at, err := kb.Derived(ctx, s.Base, "trending", trendsAge, func(ctx context.Context) ([]catalog.Trend, error) {
		now := s.Now()
		records, _, err := s.Catalog.List(ctx, catalog.ListQuery{
			Kinds: slices.Concat(derive.TrendingKinds, derive.TrendingChildren), Since: now.Add(-derive.TrendingWindow),
		})
		if err != nil {
			return nil, err
		}
		parents, err := s.Catalog.Heads(ctx, missingParents(records))
		return derive.Trending(append(records, parents...), now), err
	})
	out := Trending{
		WindowDays: int(derive.TrendingWindow.Hours() / 24), Total: len(trends), AsOf: at,
		Method: "Engagement decays with a half-life of two days and is compared with the mean of its kind.",
	}
	for _, t := range trends[:min(trendsShown, len(trends))] {
		out.Items = append(out.Items, Trend{s.Item(t.Record), kb.Score(t.Score), t.New, t.Fresh})
	}
	return out, err
}

// missingParents returns the ids of parents that are not among the records.
func missingParents(records []catalog.Record) []int64 {
	there := map[int64]bool{0: true}
	for _, r := range records {
		there[r.ID] = true
	}
	var ids []int64
	for _, r := range records {
		if !there[r.Parent] {
			there[r.Parent] = true
			ids = append(ids, r.Parent)
		}
	}
	return ids
}
