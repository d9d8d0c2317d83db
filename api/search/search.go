// Package search holds the operations that search: over everything, by
// meaning, within one kind of content, and for people, partners, examples and
// known problems.
package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/api/tally"
	"almanac/catalog"
	"almanac/retrieval"
)

// Operations are those of the group, in the order clients see them.
var Operations = []kb.Op{
	search, semantic, fullContext, feature, notes, community, apps, similar, forgeIssues, mail, talks,
	security, codeExamples, knownIssues, guidance, expert, collaborations,
}

var unavailable = []error{op.ErrUnavailable}

var search = kb.New(op.Spec{
	ID: "search", Path: "/api/v1/search", Tool: "search", MayFail: unavailable,
	Example: searchIn{Q: "balance", Type: "all", Limit: 5, Sort: "relevance"},
	Doc: `
Search the knowledge base
Ranked search over everything, with a fuzzy fallback.

Searches the whole knowledge base by words and meaning; quotes, -word, kind: and source: work. Read the section
around a result with get_doc and its read, the full text with its id.
`,
}, func(ctx context.Context, b kb.Base, in searchIn) (Answer, error) {
	r := retrieval.Request{
		Query: string(in.Q), Limit: in.Limit, Offset: in.Offset, Diversify: in.Type == "all", Whole: whole,
		Apart: whole, Typing: in.Typing,
	}
	r.Filter.Since, r.Filter.Until = in.Since.Time(), in.Until.Time()
	if !r.Filter.Until.IsZero() && r.Filter.Since.After(r.Filter.Until) {
		return Answer{}, op.Invalid("since must not be after until")
	}
	kinds := in.Type.Kinds()
	if kind := catalog.Kind(in.Kind); kind != "" {
		if kinds != nil && !slices.Contains(kinds, kind) {
			return Answer{}, op.Invalid("kind %s is not of type %s: its type is %s", kind, in.Type, arg.TypeOf(kind))
		}
		kinds = []catalog.Kind{kind}
	}
	r.Filter.Sources = arg.Only(in.Source, "")
	if in.Facets {
		r.Facets = facets
	}
	if in.Sort == byDate {
		return newest(ctx, b, r, kinds, in)
	}
	a, err := answer(ctx, b, "q", r, kinds, string(in.Type), in.Highlight)
	a.more = fmt.Sprintf("offset %d", r.Offset+r.Limit)
	return a, err
})

type searchIn struct {
	Q     arg.Query      `json:"q" tool:"query" required:"true"`
	Type  arg.SearchType `json:"type" default:"all" doc:"kind of content"`
	Limit int            `json:"limit" default:"10" minimum:"1" maximum:"50" doc:"how many to return"`
	arg.Skip
	Source string   `json:"source" tool:"-" maxLength:"200" doc:"only this source: a name of /api/v1/sources"`
	Kind   arg.Kind `json:"kind" tool:"-" doc:"only this kind, finer than type"`
	Since  arg.Day  `json:"since" tool:"-" doc:"only what is dated this day (or time) or later"`
	Until  arg.Day  `json:"until" tool:"-" doc:"only what is dated before this day (or time)"`

	Sort      string `json:"sort" tool:"-" enum:"relevance,date" default:"relevance" doc:"date: newest of the best 200"`
	Facets    bool   `json:"facets" tool:"-" default:"false" doc:"count all results by kind, source, container and state"`
	Highlight bool   `json:"highlight" tool:"-" default:"false" doc:"add the byte ranges of matches"`
	Typing    bool   `json:"typing" tool:"-" default:"false" doc:"the last word may be the beginning of one"`
}

// Answer is the answer of a search.
type Answer struct {
	Query     string                    `json:"query,omitempty" required:"true" doc:"as searched, to 4,000 characters"`
	Type      string                    `json:"type"`
	Total     int                       `json:"total" doc:"results that can be paged through"`
	Items     []find.Hit                `json:"items"`
	Degraded  []string                  `json:"degraded" doc:"what did not answer: keyword, vector, cross-encoder"`
	Corrected *string                   `json:"corrected" doc:"the query as searched, if words were corrected"`
	TookMs    float64                   `json:"took_ms,omitempty" required:"true"`
	Facets    map[string]map[string]int `json:"facets,omitempty" doc:"of all results, not of the page alone"`
	Relaxed   []Relaxed                 `json:"relaxed,omitempty" doc:"if operators left nothing over"`
	Hint      string                    `json:"hint,omitempty" doc:"what to try; in tools also how to get more"`

	Kept []string `json:"-"` // words behind a hyphen that were searched for

	offset int
	more   string // how to get the next
}

// Relaxed is what there is without an operator of the query.
type Relaxed struct {
	Without string `json:"without" doc:"a phrase, -word, kind: or source: of the query, or all of them"`
	Total   int    `json:"total"`
}

// Lean implements op.Leaner.
func (a *Answer) Lean() {
	if next, more := a.Next(); more && a.more != "" {
		more := fmt.Sprintf("%d more: %s", a.Total-next, a.more)
		a.Hint, a.more = strings.TrimPrefix(a.Hint+"; "+more, "; "), "" // once, although it is promoted
	}
	a.TookMs, a.Relaxed = 0, nil // the hint has them
}

// Next implements op.Paged.
func (a Answer) Next() (offset int, more bool) {
	offset = a.offset + len(a.Items)
	return offset, len(a.Items) > 0 && offset < a.Total
}

// whole is the number of results that come with the whole passage.
const whole = 3

var facets = []string{"kind", "source", "container", "state"}

// answer runs a search among the kinds (none: all). field is the name of the
// query's argument.
func answer(
	ctx context.Context, b kb.Base, field string, r retrieval.Request, kinds []catalog.Kind, searchType string,
	highlight bool,
) (Answer, error) {
	r.Filter.Kinds = find.KindNames(kinds)
	res, err := find.Ask(ctx, b, field, r)
	if err != nil {
		return Answer{}, err
	}
	if r.Offset == 0 { // a further page is not another search
		b.Tally.Search(ctx, r.Query, tally.Outcome{Zero: res.Total == 0 && len(res.Degraded) == 0,
			Corrected: res.Corrected != "", Degraded: len(res.Degraded) > 0, Took: res.Took})
	}
	hits, err := find.Hits(ctx, b, res.Results, highlight)
	a := Answer{
		Query: res.Query, Type: searchType, Total: res.Total, Items: hits, Degraded: res.Degraded, Facets: res.Facets,
		TookMs: float64(res.Took.Microseconds()) / 1000, Kept: res.Kept,
		offset: r.Offset,
	}
	if res.Corrected != "" {
		a.Corrected = &res.Corrected
	}
	if a.Hint = find.Remark(res); len(hits) == 0 {
		a.Hint = find.Empty(res.Total, res.Relaxed, r.Filter)
		for _, x := range res.Relaxed {
			a.Relaxed = append(a.Relaxed, Relaxed(x))
		}
		none, noneErr := b.NoSource(ctx, find.Sources(r.Filter, res.Relaxed)...)
		a.Hint, err = cmp.Or(none, a.Hint), errors.Join(err, noneErr)
	}
	return a, err
}
