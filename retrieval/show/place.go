package show

import (
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/query"
	"almanac/retrieval/snippet"
)

// pathMark joins the headings of a path.
const pathMark = " › "

// lastHeading returns the innermost heading of a path.
func lastHeading(path string) string { return path[strings.LastIndex(pathMark+path, pathMark):] }

// place returns where a result leads to in its passage: to the heading that is the query or
// a coined name of it, else to the one above what a snippet of the length shows.
func place(q query.Query, m *snippet.Matcher, p catalog.Passage, length int) catalog.Place {
	if len(p.Places) == 0 {
		return catalog.Place{Anchor: p.Anchor, Section: p.Section, Heading: p.Heading}
	}
	asked := analysis.Fold(q.Text)
	if at := slices.IndexFunc(p.Places, func(x catalog.Place) bool {
		return analysis.Fold(lastHeading(x.Heading)) == asked
	}); at >= 0 {
		return p.Places[at]
	}
	for _, t := range q.Terms {
		if !t.Coined {
			continue
		}
		for _, x := range p.Places {
			if analysis.CoinedTerm(lastHeading(x.Heading)) == t.Text {
				return x
			}
		}
	}
	found, first := p.Places[0], m.First(p.Text, length)
	for _, x := range p.Places {
		if x.At <= first {
			found = x
		}
	}
	return found
}
