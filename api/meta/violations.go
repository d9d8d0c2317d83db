package meta

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

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
