package kb

import (
	"context"

	"almanac/retrieval"
)

// Hit is one result of a search over everything.
type Hit struct {
	Item
	Type string `json:"type,omitempty" required:"true" doc:"search type"`
	Why
	Anchor  string        `json:"anchor,omitempty" doc:"of the heading in the source's page"`
	Matches *Matches      `json:"matches,omitempty" doc:"if highlight is set"`
	Source  string        `json:"source"`
	AlsoAt  []Alternative `json:"also_at,omitempty" doc:"near-identical records shown as this one"`
}

// Lean implements op.Leaner.
func (h *Hit) Lean() {
	if h.Type == h.Kind {
		h.Type = ""
	}
	h.Item.Lean()
}

// Matches are the byte ranges of matches in title and snippet.
type Matches struct {
	Title   [][2]int `json:"title"`
	Snippet [][2]int `json:"snippet"`
}

// Alternative is a copy of a result.
type Alternative struct {
	RecordID int64  `json:"record_id"`
	Title    string `json:"title"`
	URL      string `json:"url"`
}

// Hits converts results to hits, without those deleted since.
func (b Base) Hits(ctx context.Context, results []retrieval.Result, highlight bool) ([]Hit, error) {
	var ids []int64
	for _, r := range results {
		ids = append(append(ids, r.Record), r.AlsoAt...)
	}
	byID, err := b.headsByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Hit, 0, len(results))
	for _, x := range results {
		r, ok := byID[x.Record]
		if !ok {
			continue
		}
		h := b.hit(Match{r, x})
		if highlight {
			h.Matches = &Matches{x.TitleSpans, x.SnippetSpans}
		}
		for _, id := range x.AlsoAt {
			if a, ok := byID[id]; ok {
				h.AlsoAt = append(h.AlsoAt, Alternative{a.ID, a.Title, b.URL(a)})
			}
		}
		out = append(out, h)
	}
	return out, nil
}

func (b Base) hit(m Match) Hit {
	return Hit{
		Item: b.Item(m.Record), Type: TypeOf(m.Record.Kind), Why: m.Why(),
		Anchor: m.Result.Anchor, Source: m.Record.Source,
	}
}
