package retrieval

import (
	"fmt"
	"slices"
	"strings"

	"almanac/retrieval/passage"
)

// located is the maximum of passages of a record among which locate chooses.
const located = 400

// locate chooses the best of all passages of each candidate, where the rerank
// saw those that retrievers named.
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
		c.best = slices.Index(scores, slices.Max(scores))
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

// wholeOf returns for each of the best candidates where in ids the passages of
// its text are: the best passage and, if they are to be joined, its neighbours
// that retrievers found. ids begins with the best passages and gets the others.
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
	}
	return ids, whole
}
