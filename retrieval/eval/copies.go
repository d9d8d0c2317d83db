package eval

import (
	"context"
	"maps"
	"slices"

	"almanac/retrieval/corpus"
	"almanac/retrieval/dedup"
)

// Same reports whether a search would show two documents as one, because one is
// a copy of the other. nil: there are no copies.
type Same func(a, b string) bool

// copiesAtOnce is how many documents are read at once.
const copiesAtOnce = 1000

// Copies returns the Same of an index's corpus: two documents are copies if each record
// of either has a record of the other whose similarity is at least similar,
// from which a search collapses them. names are the documents of the records.
func Copies(ctx context.Context, names map[int64]string, indexed *corpus.Corpus, similar float64) (Same, error) {
	of := map[string][]dedup.Signature{}
	for records := range slices.Chunk(slices.Collect(maps.Keys(names)), copiesAtOnce) {
		documents, err := indexed.AppendDocuments(ctx, nil, records)
		if err != nil {
			return nil, err
		}
		for i := range documents {
			name := names[documents[i].Record]
			of[name] = append(of[name], documents[i].Signature())
		}
	}
	within := func(a, b string) bool {
		return !slices.ContainsFunc(of[a], func(x dedup.Signature) bool {
			return !slices.ContainsFunc(of[b], func(y dedup.Signature) bool { return dedup.Similarity(x, y) >= similar })
		})
	}
	return func(a, b string) bool { return len(of[a]) > 0 && len(of[b]) > 0 && within(a, b) && within(b, a) }, nil
}

// same adds the copies that a collection names to others.
func (c Collection) same(others Same) Same {
	return func(a, b string) bool {
		of, named := c.Clusters[a]
		return named && of == c.Clusters[b] || others != nil && others(a, b)
	}
}

// topic is the judgments of one query. Copies share one place: a ranking gains
// by the first of them alone, and the ideal ranking holds them once, so that
// hiding copies is neither rewarded nor punished.
type topic struct {
	grades map[string]int
	same   Same
	place  map[string]int // of the judged documents, by which the copies among them are one
	best   []int          // the highest grade at each place
}

func newTopic(grades map[string]int, same Same) topic {
	if same == nil {
		same = func(string, string) bool { return false }
	}
	t := topic{grades: grades, same: same, place: make(map[string]int, len(grades))}
	// Similarity is not transitive: places are what it connects, however far.
	ids := slices.Sorted(maps.Keys(grades))
	for len(ids) > 0 {
		connected := ids[:1:1]
		ids = ids[1:]
		best := grades[connected[0]]
		for i := 0; i < len(connected); i++ {
			t.place[connected[i]] = len(t.best)
			best = max(best, grades[connected[i]])
			ids = slices.DeleteFunc(ids, func(id string) bool {
				copied := same(connected[i], id)
				if copied {
					connected = append(connected, id)
				}
				return copied
			})
		}
		t.best = append(t.best, best)
	}
	return t
}

// places returns the place of each of some documents in the order of a ranking,
// which may repeat: the same for copies. What nobody judged joins the place of
// a copy above it and takes none from a judged copy below. Copies of it are
// looked for as far down as a search does.
func (t topic) places(ranking []string) []int {
	out := make([]int, len(ranking))
	at, next := map[string]int{}, len(t.best)
	var first []string // document of each place that was taken
	for i, id := range ranking {
		place, known := at[id]
		if !known {
			place, known = t.place[id]
		}
		if !known && len(first) < dedup.Window {
			if j := slices.IndexFunc(first, func(above string) bool { return t.same(above, id) }); j >= 0 {
				place, known = at[first[j]], true
			}
		}
		if !known {
			place, next = next, next+1
		}
		if !slices.Contains(out[:i], place) {
			first = append(first, id)
		}
		at[id], out[i] = place, place
	}
	return out
}

// distinct keeps the first of every place in a ranking.
func (t topic) distinct(ranking []string) []string {
	var kept []string
	taken := map[int]bool{}
	for i, place := range t.places(ranking) {
		if !taken[place] {
			taken[place], kept = true, append(kept, ranking[i])
		}
	}
	return kept
}

// judged keeps the judged documents of a ranking.
func (t topic) judged(ranking []string) []string {
	var kept []string
	for _, id := range ranking {
		if _, ok := t.grades[id]; ok {
			kept = append(kept, id)
		}
	}
	return kept
}
