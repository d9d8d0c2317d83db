package meta

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
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

type violationsIn struct {
	Window
	Limit int `json:"limit" default:"5" minimum:"1" maximum:"25" doc:"how many blocked addresses of each directive"`
}

// Violations are what the content security policy of the pages blocked.
type Violations struct{ Counted[Violated] }

// Violated are the violations of one directive.
type Violated struct {
	Directive string    `json:"directive"`
	Count     int       `json:"count"`
	Last      time.Time `json:"last_reported" format:"date-time"`
	Top       []Blocked `json:"blocked" doc:"most often first"`
}

// Blocked is an address or what else was blocked.
type Blocked struct {
	What  string    `json:"blocked" doc:"scheme and host, or a word such as inline"`
	Count int       `json:"count"`
	Last  time.Time `json:"last_reported" format:"date-time"`
}

var violations = kb.New(op.Spec{
	ID: "list_csp_violations", Path: "/api/v1/csp-violations",
	Doc: `
What the content security policy of the pages blocked, by directive.

Counts the reports that browsers send. It has neither addresses of clients nor of the pages they saw. It names a host
that at least five clients reported on one day, and of others only the scheme; where only this machine reaches the
service, it names all.
`,
}, func(ctx context.Context, b kb.Base, in violationsIn) (Violations, error) {
	private, rule := b.Counted(ctx)
	out := Violations{Counted[Violated]{Limit: in.Limit, Window: in.Days}}
	all, err := b.Catalog.Violations(ctx, in.since(b))
	for i, v := range all {
		out.Total += v.N
		if !private {
			all[i].Blocked = public(v)
		}
	}
	out.Items = byDirective(all, in.Limit)
	if len(all) == 0 {
		out.Hint = "no browser reported a violation in these days; " + rule
	}
	return out, err
})

// byDirective sums violations by directive, those with most first, with the top of
// what each blocked.
func byDirective(all []catalog.Violation, top int) (rows []Violated) {
	sums := map[string]map[string]Blocked{}
	for _, v := range all {
		if sums[v.Directive] == nil {
			sums[v.Directive] = map[string]Blocked{}
		}
		b := sums[v.Directive][v.Blocked]
		sums[v.Directive][v.Blocked] = Blocked{v.Blocked, b.Count + v.N, latest(b.Last, v.LastAt)}
	}
	for directive, blocked := range sums {
		row := Violated{Directive: directive, Top: slices.Collect(maps.Values(blocked))}
		for _, b := range row.Top {
			row.Count, row.Last = row.Count+b.Count, latest(row.Last, b.Last)
		}
		slices.SortFunc(row.Top, func(a, b Blocked) int {
			return cmp.Or(b.Count-a.Count, b.Last.Compare(a.Last), strings.Compare(a.What, b.What))
		})
		row.Top = row.Top[:min(top, len(row.Top))]
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b Violated) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(a.Directive, b.Directive))
	})
	return rows
}

// public is what anybody may read of a blocked address: whoever sends a report
// chooses its host, so that one that few clients sent is not named.
func public(v catalog.Violation) string {
	if scheme, _, address := strings.Cut(v.Blocked, "://"); address && v.Clients < catalog.PublicClients {
		return scheme
	}
	return v.Blocked
}

func latest(times ...time.Time) time.Time { return slices.MaxFunc(times, time.Time.Compare) }
