package retrieval

import (
	"slices"

	"almanac/catalog"
	"almanac/retrieval/analysis"
)

// A passage quotes another if it has that many consecutive words of it, and those that it
// quotes are at least as many as quotedWords.
const (
	quotedRun   = 8
	quotedWords = 20
)

// spoken is how far down the list what quotes nothing is looked for.
const spoken = 10

// apart puts what only quotes a better result behind the best, which are to say different
// things: a candidate whose best passage has a paragraph of a better one's, and nothing of
// the query besides. It is no copy, and stays in the list.
func apart(r *run, list []*candidate) []*candidate {
	asked := map[analysis.TermID]bool{}
	for _, t := range r.Plan.Highlighted().Terms {
		asked[t.ID] = asked[t.ID] || !t.Stop
	}
	var best, quoting []*candidate
	var said []runs // of best
	window := list[:min(len(list), max(spoken, 2*r.Plan.Request.Apart))]
	for _, c := range window {
		if len(best) == r.Plan.Request.Apart {
			break
		}
		words := passageWords(c)
		quotes := func(s runs) bool { return s.quotedBy(words, asked) }
		if at := slices.IndexFunc(said, quotes); at >= 0 && !versions(c, best[at]) {
			quoting = append(quoting, c)
			continue
		}
		best, said = append(best, c), append(said, runsOf(words))
	}
	moved := slices.Concat(best, quoting)
	scores := make([]float64, len(moved))
	for i := range moved {
		scores[i] = list[i].Shown
	}
	copy(list, moved)
	for i, c := range moved {
		c.Shown = scores[i]
	}
	return list
}

// versions reports whether two candidates are pages, which repeat each other but for the
// detail that is asked for: what holds of a version, or of a component.
func versions(a, b *candidate) bool {
	kind := a.Document.Attributes.Kind
	return kind == b.Document.Attributes.Kind && catalog.Kind(kind).Role() == catalog.RolePage
}

// passageWords are the terms of a candidate's best passage; none if it was found by its
// title.
func passageWords(c *candidate) (words []analysis.TermID) {
	if c.Best >= c.Document.Len() {
		return nil
	}
	body := c.Document.Terms(c.Best).Field(analysis.Body)
	for i := range body.Len() {
		words = append(words, body.ID(i))
	}
	return words
}

// runs are the runs of consecutive words of a passage, quotedRun long.
type runs map[[quotedRun]analysis.TermID]bool

func runsOf(words []analysis.TermID) runs {
	all := runs{}
	for i := quotedRun; i <= len(words); i++ {
		all[[quotedRun]analysis.TermID(words[i-quotedRun:i])] = true
	}
	return all
}

// quotedBy reports whether another passage has words of this one, and of what is asked for
// has nothing in its other words that is not in these. Without anything that is asked for,
// half of it must be quoted.
func (r runs) quotedBy(words []analysis.TermID, asked map[analysis.TermID]bool) bool {
	if len(r) == 0 {
		return false
	}
	quoted, until := make([]bool, len(words)), 0
	for i := quotedRun; i <= len(words); i++ {
		if r[[quotedRun]analysis.TermID(words[i-quotedRun:i])] {
			for j := max(until, i-quotedRun); j < i; j++ {
				quoted[j] = true
			}
			until = i
		}
	}
	number, inside, outside := 0, map[analysis.TermID]bool{}, map[analysis.TermID]bool{}
	for i, w := range words {
		of := outside
		if quoted[i] {
			number, of = number+1, inside
		}
		if asked[w] {
			of[w] = true
		}
	}
	for w := range outside {
		if !inside[w] {
			return false
		}
	}
	return number >= quotedWords && (len(inside) > 0 || 2*number >= len(words))
}
