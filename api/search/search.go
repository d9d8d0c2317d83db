// Package search holds the operations that search: over everything, by
// meaning, over what the community says, for proposals by feature and over
// release notes.
package search

import (
	"context"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/retrieval"
)

// Operations are those of the group, in the order clients see them.
var Operations = []kb.Op{
	search, semantic, feature, notes, community, apps, similar, forgeIssues, mail, talks, security,
	codeExamples, knownIssues, guidance, expert, collaborations,
}

var unavailable = []error{op.ErrUnavailable}

var search = kb.New(op.Spec{
	ID: "search", Path: "/api/v1/search", Tool: "search", MayFail: unavailable,
	Example: searchIn{Q: "balance", Type: "all", Limit: 5},
	Doc: `
Search the knowledge base
Ranked search over everything, with a fuzzy fallback.

Searches the whole knowledge base by words and meaning; quotes, -word, kind: and source: work. Read a result's
full text with get_doc and its id.
`,
}, runSearch)

type searchIn struct {
	Q     kb.Query      `json:"q" tool:"query" required:"true"`
	Type  kb.SearchType `json:"type" default:"all" doc:"kind of content"`
	Limit int           `json:"limit" default:"10" minimum:"1" maximum:"50" doc:"how many to return"`
	kb.Skip
	Source    string  `json:"source" tool:"-" maxLength:"200" doc:"only this source: a name of /api/v1/sources"`
	Kind      kb.Kind `json:"kind" tool:"-" doc:"only this kind, finer than type"`
	Since     kb.Day  `json:"since" tool:"-" doc:"only what is dated this day (or time) or later"`
	Until     kb.Day  `json:"until" tool:"-" doc:"only what is dated before this day (or time)"`
	Facets    bool    `json:"facets" tool:"-" default:"false" doc:"count results by kind, source, container and state"`
	Highlight bool    `json:"highlight" tool:"-" default:"false" doc:"add the byte ranges of matches"`
}

// Answer is the answer of a search.
type Answer struct {
	Query     string                    `json:"query" doc:"as searched: the first 4,000 characters"`
	Type      string                    `json:"type"`
	Total     int                       `json:"total" doc:"results that can be paged through"`
	Items     []kb.Hit                  `json:"items"`
	Degraded  []string                  `json:"degraded" doc:"what did not answer: keyword, vector, rerank"`
	Corrected *string                   `json:"corrected" doc:"the query as searched, if words were corrected"`
	TookMs    float64                   `json:"took_ms"`
	Facets    map[string]map[string]int `json:"facets,omitempty"`
	Hint      string                    `json:"hint,omitempty" doc:"if nothing was found: what to try"`

	offset int
}

// Next implements op.Paged.
func (a Answer) Next() (offset int, more bool) {
	offset = a.offset + len(a.Items)
	return offset, len(a.Items) > 0 && offset < a.Total
}

var facets = []string{"kind", "source", "container", "state"}

func runSearch(ctx context.Context, b kb.Base, in searchIn) (Answer, error) {
	r := retrieval.Request{
		Query: string(in.Q), Limit: in.Limit, Offset: in.Offset, Diversify: in.Type == "all",
	}
	r.Filter.Since, r.Filter.Until = in.Since.Time(), in.Until.Time()
	if !r.Filter.Until.IsZero() && r.Filter.Since.After(r.Filter.Until) {
		return Answer{}, op.Invalid("since must not be after until")
	}
	kinds := kb.KindsOf(in.Type)
	if kind := catalog.Kind(in.Kind); kind != "" {
		if kinds != nil && !slices.Contains(kinds, kind) {
			return Answer{}, op.Invalid("kind %s is not of type %s: its type is %s", kind, in.Type, kb.TypeOf(kind))
		}
		kinds = []catalog.Kind{kind}
	}
	if in.Source != "" {
		r.Filter.Sources = []string{in.Source}
	}
	if in.Facets {
		r.Facets = facets
	}
	return answer(ctx, b, "q", r, kinds, string(in.Type), in.Highlight)
}

// answer runs a search among the kinds (none: all). field is the name of the
// query's argument.
func answer(
	ctx context.Context, b kb.Base, field string, r retrieval.Request, kinds []catalog.Kind, searchType string,
	highlight bool,
) (Answer, error) {
	r.Filter.Kinds = kb.Names(kinds)
	res, err := b.Find(ctx, field, r)
	if err != nil {
		return Answer{}, err
	}
	if r.Offset == 0 { // a further page is not another search
		b.Tally.Search(ctx, r.Query, res.Total == 0 && len(res.Degraded) == 0)
	}
	hits, err := b.Hits(ctx, res.Results, highlight)
	a := Answer{
		Query: res.Query, Type: searchType, Total: res.Total, Items: hits, Degraded: res.Degraded, Facets: res.Facets,
		TookMs: float64(res.Took.Microseconds()) / 1000, offset: r.Offset,
	}
	if res.Corrected != "" {
		a.Corrected = &res.Corrected
	}
	if len(hits) == 0 {
		a.Hint = kb.EmptySearch(res.Total, r.Filter)
	}
	return a, err
}

var semantic = kb.New(op.Spec{
	ID: "semantic_search", Tool: "semantic_search", MayFail: unavailable,
	Doc: `
Search by meaning
Hybrid vector and full-text retrieval with reranking.

Finds passages by meaning and words together, reranked; best for questions in your own words. Read a result's
full text with get_doc and its id.
`,
}, runSemantic)

type semanticIn struct {
	Query string          `json:"query" required:"true" doc:"a question or description in your own words"`
	Types []kb.SearchType `json:"source_types" maxItems:"10" doc:"kinds of content; all when left out"`
	Limit int             `json:"limit" default:"10" minimum:"1" maximum:"50" doc:"how many to return"`
}

func runSemantic(ctx context.Context, b kb.Base, in semanticIn) (Answer, error) {
	r := retrieval.Request{Query: in.Query, Limit: in.Limit, Diversify: len(in.Types) != 1}
	if len(in.Types) == 0 || slices.Contains(in.Types, "all") {
		r.Diversify = true
		return answer(ctx, b, "query", r, nil, "all", false)
	}
	var kinds []catalog.Kind
	names := make([]string, len(in.Types))
	for i, t := range in.Types {
		names[i], kinds = string(t), append(kinds, kb.KindsOf(t)...)
	}
	return answer(ctx, b, "query", r, kinds, strings.Join(names, ","), false)
}
