package retrieval

import (
	"slices"

	"almanac/retrieval/dedup"
)

// collapse keeps one of every cluster of near-identical records: the more
// authoritative, else the newer, else the better ranked, at the place of the
// best ranked.
func (s *search) collapse(candidates []*candidate, similar float64) []*candidate {
	clusters := dedup.Collapse(len(candidates),
		func(a, b int) bool {
			return dedup.Same(candidates[a].document.Signature(), candidates[b].document.Signature(), similar)
		},
		func(a, b int) bool { return s.prefer(candidates[a], candidates[b]) })
	kept := make([]*candidate, len(clusters))
	for i, c := range clusters {
		shown := candidates[c[0]]
		shown.score = candidates[slices.Min(c)].score
		for _, copied := range c[1:] {
			shown.alsoAt = append(shown.alsoAt, candidates[copied].Record)
		}
		kept[i] = shown
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
