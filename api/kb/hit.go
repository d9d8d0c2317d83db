package kb

import (
	"context"
	"time"

	"almanac/catalog"
	"almanac/retrieval"
)

// Hit is one search result.
type Hit struct {
	ID        any           `json:"id" doc:"opens the item's detail path"`
	RecordID  int64         `json:"record_id" doc:"reads the full text with get_doc"`
	Type      string        `json:"type" doc:"search type"`
	Kind      string        `json:"kind"`
	Key       string        `json:"key" doc:"natural key, unique in its kind"`
	Title     string        `json:"title"`
	URL       string        `json:"url"`
	Page      string        `json:"page" doc:"address in this knowledge base"`
	Snippet   string        `json:"snippet" doc:"why it matched, at most 300 characters"`
	Matches   Matches       `json:"matches"`
	Heading   string        `json:"heading,omitempty" doc:"heading path of the best passage"`
	Anchor    string        `json:"anchor,omitempty" doc:"of that heading in the source's page"`
	Score     float64       `json:"score" doc:"0 to 1; comparable within one answer only"`
	Date      *time.Time    `json:"date" doc:"last activity, update or creation"`
	Source    string        `json:"source"`
	Container string        `json:"container,omitempty" doc:"repository, group, channel or category"`
	State     string        `json:"state,omitempty"`
	Author    string        `json:"author,omitempty"`
	Path      string        `json:"path,omitempty" doc:"file it was read from"`
	AlsoAt    []Alternative `json:"also_at,omitempty" doc:"near-identical records shown as this one"`
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

// Hits makes the hits of results, without those deleted since.
func (b Base) Hits(ctx context.Context, results []retrieval.Result) ([]Hit, error) {
	var ids []int64
	for _, r := range results {
		ids = append(append(ids, r.Record), r.AlsoAt...)
	}
	byID, err := b.byID(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Hit, 0, len(results))
	for _, x := range results {
		r, ok := byID[x.Record]
		if !ok {
			continue
		}
		h := b.hit(r, x)
		for _, id := range x.AlsoAt {
			if a, ok := byID[id]; ok {
				h.AlsoAt = append(h.AlsoAt, Alternative{a.ID, a.Title, b.URL(a)})
			}
		}
		out = append(out, h)
	}
	return out, nil
}

func (b Base) hit(r catalog.Record, x retrieval.Result) Hit {
	return Hit{ID: ID(r), RecordID: r.ID, Type: TypeOf(r.Kind), Kind: string(r.Kind), Key: r.Key, Title: r.Title, URL: b.URL(r), Page: b.PageURL(r),
		Snippet: x.Snippet, Matches: Matches{x.TitleSpans, x.SnippetSpans}, Heading: x.Heading, Anchor: x.Anchor, Score: x.Score, Date: Time(Date(r)),
		Source: r.Source, Container: r.Container, State: r.State, Author: r.Author, Path: r.Path}
}
