package desk

import (
	"slices"

	"almanac/retrieval"
)

// Difference is what a change does to the results of a query.
type Difference struct {
	Query         string
	Before, After []moved
	Changed       int // places that another record has
}

// moved is a result that was at another place.
type moved struct {
	retrieval.Result
	From int // its place before, from 1; 0: it was not among them
	Gone bool
}

// Differ compares two lists of results.
func Differ(query string, before, after []retrieval.Result) Difference {
	d := Difference{Query: query}
	place := func(list []retrieval.Result, record int64) int {
		return 1 + slices.IndexFunc(list, func(x retrieval.Result) bool { return x.Record == record })
	}
	for i, x := range after {
		m := moved{Result: x, From: place(before, x.Record)}
		if m.From != i+1 {
			d.Changed++
		}
		d.After = append(d.After, m)
	}
	for _, x := range before {
		d.Before = append(d.Before, moved{Result: x, Gone: place(after, x.Record) == 0})
	}
	return d
}
