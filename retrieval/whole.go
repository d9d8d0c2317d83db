package retrieval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"almanac/retrieval/passage"
)

// located is the maximum of passages of a record among which locate chooses.
const located = 400

// further is the number of passages that are read beside the best one of a
// record.
const further = 4

// locate chooses the best of all passages of each candidate, where the rerank
// saw those that retrievers named, and those that answer next best.
func (s *search) locate(candidates []*candidate) {
	ordinals := make([][]int, len(candidates))
	var ids []passage.ID // of all
	for i, c := range candidates {
		if c.document.Len() < 2 || c.best >= located {
			continue
		}
		for o := range min(c.document.Len(), located) {
			ordinals[i], ids = append(ordinals[i], o), append(ids, passage.NewID(c.Record, o))
		}
	}
	if len(ids) == 0 {
		return
	}
	cosines := make([]float32, len(ids))
	err := s.cosinesOf(ids, cosines)
	for i, c := range candidates {
		n := len(ordinals[i])
		if n == 0 {
			continue
		}
		var own []float32 // nil: by words alone
		if err == nil {
			own, cosines = cosines[:n], cosines[n:]
		}
		scores := s.plan.scorer.Locate(c.document, ordinals[i], own)
		ranked := ordinals[i]
		slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		c.best, c.further = ranked[0], ranked[1:min(len(ranked), 1+further)]
	}
}

// follow writes what stands between two consecutive passages: the heading of
// the second if it is in another section.
func follow(b *strings.Builder, before, heading string) {
	const mark = " › "
	b.WriteString("\n\n")
	if heading != before && heading != "" {
		fmt.Fprintf(b, "%s\n\n", heading[strings.LastIndex(mark+heading, mark):])
	}
}

// posted is the maximum of posts of a thread that are shown beside the best.
const posted = 4

// wholeOf returns for each of the best candidates where in ids the passages of
// its text are: the best passage, if they are to be joined its neighbours that
// retrievers found, and the best of others in its thread. ids begins with the
// best passages and gets the others.
func wholeOf(best []*candidate, ids []passage.ID, joined bool) ([]passage.ID, [][]int) {
	whole := make([][]int, len(best))
	for i, c := range best {
		for o := c.best - 1; o <= c.best+1; o++ {
			switch {
			case o == c.best:
				whole[i] = append(whole[i], i)
			case joined && slices.Contains(c.passages, o):
				whole[i] = append(whole[i], len(ids))
				ids = append(ids, passage.NewID(c.Record, o))
			}
		}
		for _, post := range c.posts[:min(len(c.posts), posted)] {
			whole[i] = append(whole[i], len(ids))
			ids = append(ids, passage.NewID(post.Record, post.best))
		}
		slices.SortFunc(whole[i], func(a, b int) int { return cmp.Compare(ids[a], ids[b]) })
	}
	return ids, whole
}
