// Package search holds the operations that search: over everything, over
// vectors, and for proposals by feature. It imports kb and op.
package search

import (
	"context"
	"slices"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/passage"
)

const group = "search"

type service struct{ kb.Base }

// Operations returns the group's operations.
func Operations(b kb.Base) []op.Operation {
	s := service{b}
	unavailable := []error{op.ErrUnavailable}
	return []op.Operation{
		op.New(op.Spec{ID: "search", Group: group, Path: "/api/v1/search", MayFail: unavailable,
			Summary: "Ranked search over everything, with a fuzzy fallback."}, s.search),
		op.New(op.Spec{ID: "search_tool", Group: group, Tool: "search", Title: "Search the knowledge base",
			Summary:     "Ranked search over everything, with a fuzzy fallback.",
			Description: "Searches the whole knowledge base by words and meaning; quotes, -word, kind: and source: work. Read a result's full text with get_doc and its record_id."}, s.searchTool),
		op.New(op.Spec{ID: "semantic_search", Group: group, Tool: "semantic_search", Title: "Search by meaning",
			Summary:     "Hybrid vector and full-text retrieval with reranking.",
			Description: "Finds passages by meaning and words together, reranked; best for questions in your own words. Read a result's full text with get_doc and its id."}, s.semantic),
		op.New(op.Spec{ID: "find_cip_for_feature", Group: group, Tool: "find_cip_for_feature", Title: "Find proposals for a feature",
			Summary:     "Improvement proposals that match a description of a feature.",
			Description: "Finds the improvement proposals that specify or touch a feature, by title and text, with their status."}, s.forFeature),
	}
}

type searchIn struct {
	Q      string    `json:"q" required:"true" doc:"what to search for; \"quoted phrases\", -word, kind:doc and source:docs work"`
	Type   string    `json:"type" enum:"all,cip,doc,discussion,mail,whitepaper,proposal,blog,video,forge" default:"all" doc:"kind of content"`
	Limit  int       `json:"limit" default:"10" minimum:"1" maximum:"50" doc:"how many to return"`
	Offset int       `json:"offset" default:"0" minimum:"0" doc:"how many to skip"`
	Source string    `json:"source" doc:"only this source: one of the names in /api/v1/sources" maxLength:"200"`
	Kind   string    `json:"kind" doc:"only this kind, finer than type" maxLength:"100"`
	Since  time.Time `json:"since" doc:"only what is dated this day (or time) or later"`
	Until  time.Time `json:"until" doc:"only what is dated before this day (or time)"`
	Facets bool      `json:"facets" default:"false" doc:"count results by kind, source, container and state"`
}

// Answer is the answer of a search.
type Answer struct {
	Query     string                    `json:"query" doc:"as searched: the first 4,000 characters"`
	Type      string                    `json:"type"`
	Total     int                       `json:"total" doc:"results that can be paged through"`
	Items     []kb.Hit                  `json:"items"`
	Degraded  []string                  `json:"degraded" doc:"what did not answer: keyword, vector, rerank"`
	Corrected *string                   `json:"corrected" doc:"the query as it was read, where words were corrected"`
	TookMs    float64                   `json:"took_ms"`
	Facets    map[string]map[string]int `json:"facets,omitempty"`
}

var facets = []string{"kind", "source", "container", "state"}

func (s service) search(ctx context.Context, in searchIn) (Answer, error) {
	filter := passage.Filter{Since: in.Since, Until: in.Until}
	if !in.Since.IsZero() && !in.Until.IsZero() && in.Since.After(in.Until) {
		return Answer{}, op.Invalid("since must not be after until")
	}
	var err error
	if filter.Kinds, err = kinds(in.Type, in.Kind); err != nil {
		return Answer{}, err
	}
	if in.Source != "" {
		filter.Sources = []string{in.Source}
	}
	r := retrieval.Request{Query: in.Q, Limit: in.Limit, Offset: in.Offset, Diversify: in.Type == "all", Filter: filter}
	if in.Facets {
		r.Facets = facets
	}
	return s.answer(ctx, "q", r, in.Type)
}

// kinds are the kinds to search: those of the type, or the one that is named,
// which must be among them.
func kinds(searchType, kind string) ([]string, error) {
	of := kb.KindsOf(searchType)
	if kind == "" {
		return of, nil
	}
	i := slices.IndexFunc(catalog.Kinds, func(k catalog.KindInfo) bool { return strings.EqualFold(string(k.Kind), kind) })
	if i < 0 {
		names := make([]string, len(catalog.Kinds))
		for i, k := range catalog.Kinds {
			names[i] = string(k.Kind)
		}
		return nil, op.Invalid("kind must be one of %s", strings.Join(names, ", "))
	}
	kind = string(catalog.Kinds[i].Kind)
	if of != nil && !slices.Contains(of, kind) {
		return nil, op.Invalid("kind %s is not of type %s: its type is %s", kind, searchType, catalog.Kinds[i].SearchType)
	}
	return []string{kind}, nil
}

// answer runs a search and joins its results with their records. The query
// came in the argument.
func (s service) answer(ctx context.Context, argument string, r retrieval.Request, searchType string) (Answer, error) {
	res, err := s.Find(ctx, argument, r)
	if err != nil {
		return Answer{}, err
	}
	hits, err := s.Hits(ctx, res.Results)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Query: res.Query, Type: searchType, Total: res.Total, Items: hits, Degraded: res.Degraded, Facets: res.Facets,
		TookMs: float64(res.Took.Microseconds()) / 1000}
	if res.Corrected != "" {
		a.Corrected = &res.Corrected
	}
	return a, nil
}

type toolIn struct {
	Query  string `json:"query" required:"true" doc:"what to search for; \"quoted phrases\", -word, kind:doc and source:docs work"`
	Type   string `json:"type" enum:"all,cip,doc,discussion,mail,whitepaper,proposal,blog,video,forge" default:"all" doc:"kind of content"`
	Limit  int    `json:"limit" default:"10" minimum:"1" maximum:"50" doc:"how many to return"`
	Offset int    `json:"offset" default:"0" minimum:"0" doc:"how many to skip"`
}

func (s service) searchTool(ctx context.Context, in toolIn) (Answer, error) {
	r := retrieval.Request{Query: in.Query, Limit: in.Limit, Offset: in.Offset, Diversify: in.Type == "all", Filter: passage.Filter{Kinds: kb.KindsOf(in.Type)}}
	return s.answer(ctx, "query", r, in.Type)
}

type semanticIn struct {
	Query string   `json:"query" required:"true" doc:"a question or description in your own words"`
	Types []string `json:"source_types" enum:"all,cip,doc,discussion,mail,whitepaper,proposal,blog,video,forge" maxItems:"10" doc:"kinds of content; all when left out"`
	Limit int      `json:"limit" default:"10" minimum:"1" maximum:"50" doc:"how many to return"`
}

func (s service) semantic(ctx context.Context, in semanticIn) (Answer, error) {
	r := retrieval.Request{Query: in.Query, Limit: in.Limit, Diversify: true}
	searchType := "all"
	if len(in.Types) > 0 && !slices.Contains(in.Types, "all") {
		r.Diversify = len(in.Types) > 1
		searchType = strings.Join(in.Types, ",")
		for _, t := range in.Types {
			r.Filter.Kinds = append(r.Filter.Kinds, kb.KindsOf(t)...)
		}
	}
	a, err := s.answer(ctx, "query", r, searchType)
	for i := range a.Items {
		a.Items[i].ID = a.Items[i].RecordID
	}
	return a, err
}

type featureIn struct {
	Feature string `json:"feature" required:"true" doc:"what the feature does, in your own words"`
}

// Matches are the proposals found for a feature.
type Matches struct {
	Feature string  `json:"feature"`
	Items   []Match `json:"items"`
	Total   int     `json:"total"`
}

// Match is a found proposal with why it was found.
type Match struct {
	kb.CIP
	Snippet string  `json:"snippet"`
	Score   float64 `json:"score"`
}

// featureResults is the number of proposals that are answered.
const featureResults = 10

func (s service) forFeature(ctx context.Context, in featureIn) (Matches, error) {
	res, err := s.Find(ctx, "feature", retrieval.Request{Query: in.Feature, Limit: featureResults, Filter: passage.Filter{Kinds: []string{string(catalog.KindCIP)}}})
	if err != nil {
		return Matches{}, err
	}
	found, err := s.Found(ctx, res.Results)
	if err != nil {
		return Matches{}, err
	}
	m := Matches{Feature: res.Query, Total: res.Total}
	for _, f := range found {
		row, err := s.CIPRow(f.Record)
		if err != nil {
			return Matches{}, err
		}
		m.Items = append(m.Items, Match{row, f.Result.Snippet, f.Result.Score})
	}
	return m, nil
}
