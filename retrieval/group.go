package retrieval

import (
	"cmp"
	"slices"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/dedup"
)

// collapse keeps one of every cluster of near-identical candidates.
func collapse(r *run, list []*candidate) []*candidate {
	return keepOne(r, list, "", func(i int) dedup.Signature { return list[i].Document.Signature() })
}

// keepOne keeps one of every cluster of candidates with near-identical signatures:
// the more authoritative, else the newer, else the better ranked, at the place of
// the best ranked. A candidate without a signature is like no other. is says what
// the others are to it.
func keepOne(r *run, list []*candidate, is string, signature func(i int) dedup.Signature) []*candidate {
	signatures := make([]dedup.Signature, min(len(list), dedup.Window))
	for i := range signatures {
		signatures[i] = signature(i)
	}
	clusters := dedup.Collapse(len(list),
		func(a, b int) bool {
			x, y := signatures[a], signatures[b]
			return x != "" && y != "" && dedup.Same(x, y, r.Plan.Profile.Collapse)
		},
		func(a, b int) bool { return preferred(r.Plan, list[a], list[b]) })
	kept := make([]*candidate, len(clusters))
	for i, c := range clusters {
		shown := list[c[0]]
		shown.Shown = list[slices.Min(c)].Shown
		for _, copied := range c[1:] {
			other := list[copied]
			shown.AlsoAt = append(append(shown.AlsoAt, other.Record), other.AlsoAt...)
			other.Into, other.Is = shown, is
		}
		kept[i] = shown
	}
	return kept
}

// compared is the number of results of which the best passages are compared.
const compared = 30

// distinct collapses candidates whose best passages are near-identical: pages
// that quote the same text are not the same, but say the same to a query.
func distinct(r *run, candidates []*candidate) []*candidate {
	signatures := make([]dedup.Signature, min(len(candidates), compared))
	var terms []analysis.TermID
	for i := range signatures {
		c := candidates[i]
		if c.Best >= c.Document.Len() {
			continue // found by its title
		}
		terms = terms[:0]
		body := c.Document.Terms(c.Best).Field(analysis.Body)
		for t := range body.Len() {
			terms = append(terms, body.ID(t))
		}
		signatures[i] = dedup.Sign(terms)
	}
	return keepOne(r, candidates, "has the same passage as", func(i int) dedup.Signature {
		if i >= len(signatures) {
			return ""
		}
		return signatures[i]
	})
}

// thread shows of each thread only the best candidate, with the others attached to it:
// the posts of a thread are read together, and shown one by one they would only
// displace other records.
func thread(_ *run, candidates []*candidate) []*candidate {
	kept, best := candidates[:0], map[int64]*candidate{}
	for _, c := range candidates {
		thread := cmp.Or(c.Document.Thread, c.Record)
		if first, known := best[thread]; known {
			first.Posts = append(first.Posts, c)
			c.Into, c.Is = first, "is in the thread of"
			continue
		}
		best[thread] = c
		kept = append(kept, c)
	}
	return kept
}

// preferred reports whether copy a is to be shown instead of copy b.
func preferred(p *plan, a, b *candidate) bool {
	if x, y := p.AuthorityOf(a.Document), p.AuthorityOf(b.Document); x != y {
		return x > y
	}
	return a.Document.Attributes.Date.After(b.Document.Attributes.Date)
}

// Diversification: if one kind fills the first ten, the best of other kinds
// take the last places if they score nearly as well as what they displace. An API has
// many endpoints that are alike.
const (
	diverseWindow    = 10
	diverseMost      = 8 // of one kind in the window
	diverseEndpoints = 4 // of endpoints, from which on others may come between them
)

func diversify(r *run, candidates []*candidate) []*candidate {
	if len(candidates) <= diverseWindow {
		return candidates
	}
	share := r.Plan.Profile.Rules.DiverseShare // of the score of what is displaced, at least
	count := map[string]int{}
	for _, c := range candidates[:diverseWindow] {
		count[c.Document.Attributes.Kind]++
	}
	for i := diverseWindow - 1; i > 0; i-- {
		kind := candidates[i].Document.Attributes.Kind
		most := diverseMost
		if kind == string(catalog.KindEndpoint) {
			most = diverseEndpoints
		}
		if count[kind] <= most {
			continue
		}
		for j := diverseWindow; j < min(len(candidates), 3*diverseWindow); j++ {
			other := candidates[j].Document.Attributes.Kind
			if other != kind && candidates[j].Shown >= share*candidates[i].Shown {
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
		candidates[i].Shown = min(candidates[i].Shown, candidates[i-1].Shown)
	}
	return candidates
}

// pin moves candidates to the places of a plan's pins. A record that no
// retriever found is added at its place.
func pin(r *run, candidates []*candidate) []*candidate {
	places := r.Plan.Places
	var buried, placed []*candidate
	for i, x := range places {
		d := r.Placed[i]
		at := slices.IndexFunc(candidates, func(c *candidate) bool { return c.Record == x.ID })
		var c *candidate
		switch {
		case at >= 0:
			c = candidates[at]
			candidates = slices.Delete(candidates, at, at+1)
		case x.Position == 0 || d == nil || !r.Plan.Filter.Admits(d.Record, d.Attributes):
			continue
		default:
			c = &candidate{Document: d}
			c.Record = d.Record
			for _, other := range candidates { // it is shown as a result
				other.AlsoAt = slices.DeleteFunc(other.AlsoAt, func(id int64) bool { return id == d.Record })
			}
		}
		c.Pin = &places[i]
		if x.Position == 0 {
			buried = append(buried, c)
		} else {
			placed = append(placed, c)
		}
	}
	for _, c := range placed { // by position
		candidates = slices.Insert(candidates, min(c.Pin.Position-1, len(candidates)), c)
	}
	candidates = append(candidates, buried...)
	level(candidates)
	return candidates
}

// level gives a moved candidate the score of the next one, or of the previous
// one at the end, so that scores never increase down the list.
func level(candidates []*candidate) {
	last := 0.0
	for _, c := range slices.Backward(candidates) {
		if c.Pin == nil {
			last = c.Shown
		} else if c.Pin.Position > 0 {
			c.Shown = last
		} else {
			c.Shown = 0
		}
	}
}
