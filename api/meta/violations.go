package meta

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
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
	What  string    `json:"blocked" doc:"scheme, host and path, or a word such as inline"`
	Count int       `json:"count"`
	Last  time.Time `json:"last_reported" format:"date-time"`
}

var violations = kb.New(op.Spec{
	ID: "list_csp_violations", Path: "/api/v1/csp-violations",
	Doc: `
What the content security policy of the pages blocked, by directive.

Counts the reports that browsers send. It has neither addresses of clients nor of the pages they saw.
`,
}, func(ctx context.Context, b kb.Base, in violationsIn) (Violations, error) {
	writeCounts(ctx, b)
	out := Violations{Counted[Violated]{Limit: in.Limit, Window: in.Days}}
	counts, err := b.Catalog.Violations(ctx, in.since(b), in.Limit)
	for _, d := range counts {
		row := Violated{Directive: d.Directive, Count: d.N, Last: d.LastAt}
		for _, v := range d.Top {
			row.Top = append(row.Top, Blocked{v.Blocked, v.N, v.LastAt})
		}
		out.Items, out.Total = append(out.Items, row), out.Total+d.N
	}
	if len(counts) == 0 {
		out.Hint = "no browser reported a violation in these days"
	}
	return out, err
})
