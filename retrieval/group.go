package retrieval

import (
	"cmp"
	"slices"

	"almanac/retrieval/analysis"
	"almanac/retrieval/dedup"
)

// collapse keeps one of every cluster of near-identical candidates: the more
// authoritative, else the newer, else the better ranked, at the place of the
// best ranked. A candidate without a signature is like no other.
func (s *search) collapse(candidates []*candidate, signature func(i int) dedup.Signature) []*candidate {
	similar := s.plan.Profile.Collapse
	signatures := make([]dedup.Signature, min(len(candidates), dedup.Window))
	for i := range signatures {
		signatures[i] = signature(i)
	}
	clusters := dedup.Collapse(len(candidates),
		func(a, b int) bool {
			x, y := signatures[a], signatures[b]
			return x != "" && y != "" && dedup.Same(x, y, similar)
		},
		func(a, b int) bool { return s.prefer(candidates[a], candidates[b]) })
	kept := make([]*candidate, len(clusters))
	for i, c := range clusters {
		shown := candidates[c[0]]
		shown.score = candidates[slices.Min(c)].score
		for _, copied := range c[1:] {
			other := candidates[copied]
			shown.alsoAt = append(append(shown.alsoAt, other.Record), other.alsoAt...)
		}
		kept[i] = shown
	}
	return kept
}

// compared is the number of results of which the best passages are compared.
const compared = 30

// distinct collapses candidates whose best passages are near-identical: pages
// that quote the same text are not the same, but say the same to a query.
func (s *search) distinct(candidates []*candidate) []*candidate {
	signatures := make([]dedup.Signature, min(len(candidates), compared))
	var terms []analysis.TermID
	for i := range signatures {
		c := candidates[i]
		if c.best >= c.document.Len() {
			continue // found by its title
		}
		terms = terms[:0]
		body := c.document.Terms(c.best).Field(analysis.Body)
		for t := range body.Len() {
			terms = append(terms, body.ID(t))
		}
		signatures[i] = dedup.Sign(terms)
	}
	return s.collapse(candidates, func(i int) dedup.Signature {
		if i >= len(signatures) {
			return ""
		}
		return signatures[i]
	})
}

// onceEachThread shows the best of what a thread has, with the others: its posts
// are read together, and one by one they would only take the places of others.
func onceEachThread(candidates []*candidate) []*candidate {
	kept, best := candidates[:0], map[int64]*candidate{}
	for _, c := range candidates {
		thread := cmp.Or(c.document.Thread, c.Record)
		if first, known := best[thread]; known {
			first.posts = append(first.posts, c)
			continue
		}
		best[thread] = c
		kept = append(kept, c)
	}
	return kept
}

// prefer reports whether copy a is to be shown instead of copy b.
func (s *search) prefer(a, b *candidate) bool {
	if x, y := s.authorityOf(a.document), s.authorityOf(b.document); x != y {
		return x > y
	}
	return a.document.Attributes.Date.After(b.document.Attributes.Date)
}

// Diversification: if one kind fills the first ten, the best of other kinds
// take the last places if they score nearly as well as what they displace.
const (
	diverseWindow = 10
	diverseMost   = 8 // of one kind in the window
)

// share is the least score relative to that of what is displaced.
func diversify(candidates []*candidate, share float64) {
	if len(candidates) <= diverseWindow {
		return
	}
	count := map[string]int{}
	for _, c := range candidates[:diverseWindow] {
		count[c.document.Attributes.Kind]++
	}
	for i := diverseWindow - 1; i > 0; i-- {
		kind := candidates[i].document.Attributes.Kind
		if count[kind] <= diverseMost {
			continue
		}
		for j := diverseWindow; j < min(len(candidates), 3*diverseWindow); j++ {
			other := candidates[j].document.Attributes.Kind
			if other != kind && candidates[j].score >= share*candidates[i].score {
				moved := candidates[j]
				copy(candidates[i+1:j+1], candidates[i:j])
				candidates[i] = moved
				count[kind]--
				count[other]++
				break
			}
		}
	}
	for i := 1; i < len(candidates); i++ {
		candidates[i].score = min(candidates[i].score, candidates[i-1].score)
	}
}
