package main

import (
	"slices"

	"almanac/api/admit"
	"almanac/retrieval"
)

// A decorator stands between those who search and the engine.
type decorator struct {
	name   string
	around func(retrieval.Searcher) retrieval.Searcher // nil: this command has none
}

// decorators are what a search passes on its way to the engine, in this order. A
// server has all; other commands count nothing.
func decorators(counted func(retrieval.Searcher) retrieval.Searcher) []decorator {
	return []decorator{
		{"admit", func(s retrieval.Searcher) retrieval.Searcher { return admit.New(s, admit.Standard()) }},
		{"metrics", counted},
	}
}

// decorate puts decorators around a searcher.
func decorate(s retrieval.Searcher, all []decorator) retrieval.Searcher {
	for _, d := range slices.Backward(all) {
		if d.around != nil {
			s = d.around(s)
		}
	}
	return s
}
