package main

import (
	"slices"

	"almanac/api/admit"
	"almanac/api/shadow"
	"almanac/retrieval"
	"almanac/retrieval/revision"
)

// A decorator stands between those who search and the engine.
type decorator struct {
	name   string
	around func(retrieval.Searcher) retrieval.Searcher // nil: this command has none
}

// decorators are what a search passes on its way to the engine, in this order. A
// server has all; other commands count nothing, or try no candidate profile.
func decorators(tried, counted func(retrieval.Searcher) retrieval.Searcher) []decorator {
	return []decorator{
		{"shadow", tried},
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

// trying puts the decorators of a process that answers strangers around an engine. The
// candidate profile that beside tries searches the engine itself, which counts nothing
// and admits everything.
func (a *app) trying(
	engine retrieval.Searcher, revisions revision.Source, counted func(retrieval.Searcher) retrieval.Searcher,
) (s retrieval.Searcher, beside *shadow.Searcher) {
	tried := func(s retrieval.Searcher) retrieval.Searcher {
		beside = shadow.New(s, engine, revisions, a.log)
		return beside
	}
	s = decorate(engine, decorators(tried, counted))
	return s, beside
}
