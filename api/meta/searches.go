package meta

import (
	"context"
	"regexp"
	"time"
	"unicode/utf8"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// Window are the days of counts, today included.
type Window struct {
	Days int `json:"window" default:"7" minimum:"1" maximum:"90" doc:"days, today included"`
}

// since returns the first day of the window.
func (w Window) since(b kb.Base) time.Time { return catalog.Day(b.Now()).AddDate(0, 0, 1-w.Days) }

type searchesIn struct {
	Window
	Limit int `json:"limit" default:"20" minimum:"1" maximum:"100" doc:"how many to return"`
}

// Counted are the most frequent of what was counted in a window.
type Counted[T any] struct {
	Items  []T    `json:"items"`
	Total  int    `json:"total" doc:"in all"`
	Limit  int    `json:"limit"`
	Window int    `json:"window_days"`
	Hint   string `json:"hint,omitempty" doc:"if nothing is listed: why"`
}

// Searches are what was searched for.
type Searches struct{ Counted[Searched] }

// Searched is one query.
type Searched struct {
	Query     string    `json:"query" doc:"in lower case, with single spaces"`
	Count     int       `json:"count" doc:"searches for it"`
	Zero      int       `json:"zero_count" doc:"searches of these that found nothing"`
	Corrected int       `json:"corrected_count" doc:"searches of these that were read as something else"`
	Last      time.Time `json:"last_searched" format:"date-time" doc:"the day"`

	// Proposed says that pages show the query to whoever visits them.
	Proposed bool `json:"-"`
}

// proposedDays is on how many days a query must have had enough visitors before pages
// propose it: one crowd on one day may be fabricated.
const proposedDays = 2

// proposable is a text of words and numbers: nothing that could be read as an
// address, so no dot but those of a version.
var proposable = regexp.MustCompile(`^(v?\d+(\.\d+)+|[\pL\pN_-]+)( (v?\d+(\.\d+)+|[\pL\pN_-]+))*$`)

// proposed reports whether pages propose a query: enough people typed it on pages,
// and it found something as it was typed.
func proposed(c catalog.SearchCount) bool {
	n := utf8.RuneCountInString(c.Query)
	return c.ShownDays >= proposedDays && c.Zero < c.N && c.Corrected == 0 && 2 <= n && n <= 52 &&
		proposable.MatchString(c.Query)
}

var popular = kb.New(op.Spec{
	ID: "list_popular_searches", Path: "/api/v1/searches/popular",
	Doc: `
What is searched for most.

Counts the first pages of searches by REST and by the tools search and semantic_search: where only this machine reaches
the service all of them, else those of days on which at least five clients searched for the same. A query that looks like
a secret or like an address or number of a person is not counted.
`,
}, func(ctx context.Context, b kb.Base, in searchesIn) (Searches, error) {
	return runSearches(ctx, b, in, catalog.MostSearched, "nothing was searched for in these days")
})

var zero = kb.New(op.Spec{
	ID: "list_zero_searches", Path: "/api/v1/searches/zero",
	Doc: `
What is searched for and not found.

Lists queries by how often nothing was found for them, as counted for /searches/popular. A search that an engine
did not answer is not among them.
`,
}, func(ctx context.Context, b kb.Base, in searchesIn) (Searches, error) {
	return runSearches(ctx, b, in, catalog.MostZero, "no search of these days found nothing")
})

func runSearches(ctx context.Context, b kb.Base, in searchesIn, order catalog.SearchOrder, none string) (Searches, error) {
	private, rule := b.Counted(ctx)
	q := catalog.SearchQuery{Since: in.since(b), Order: order, Limit: in.Limit, Public: !private}
	counts, total, err := b.Catalog.Searches(ctx, q)
	out := Searches{Counted[Searched]{Total: total, Limit: in.Limit, Window: in.Days}}
	for _, c := range counts {
		out.Items = append(out.Items, Searched{c.Query, c.N, c.Zero, c.Corrected, catalog.Day(c.LastAt), proposed(c)})
	}
	if total == 0 {
		out.Hint = none + "; " + rule
	}
	return out, err
}
