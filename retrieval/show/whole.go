package show

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"almanac/retrieval/gather"
	"almanac/retrieval/order"
	"almanac/retrieval/passage"
)

// nextBest is the number of passages that are read beside the best one of a
// record.
const nextBest = 4

// locate chooses the best of all passages of each candidate, where the rerank
// saw those that retrievers named, and those that answer next best.
func locate(f *gather.Found, candidates []*order.Candidate, further [][]int) {
	ordinals := make([][]int, len(candidates))
	var ids []passage.ID // of all
	for i, c := range candidates {
		if c.Document.Len() < 2 || c.Best >= gather.Located {
			continue
		}
		for o := range min(c.Document.Len(), gather.Located) {
			ordinals[i], ids = append(ordinals[i], o), append(ids, passage.NewID(c.Record, o))
		}
	}
	if len(ids) == 0 {
		return
	}
	cosines := make([]float32, len(ids))
	err := f.Cosines(ids, cosines)
	for i, c := range candidates {
		n := len(ordinals[i])
		if n == 0 {
			continue
		}
		var own []float32 // nil: by words alone
		if err == nil {
			own, cosines = cosines[:n], cosines[n:]
		}
		scores := f.Plan.Scorer.Locate(c.Document, ordinals[i], own)
		ranked := ordinals[i]
		slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		c.Best, further[i] = ranked[0], ranked[1:min(len(ranked), 1+nextBest)]
	}
}

// follow writes what stands between two consecutive passages: the heading of
// the second if it is in another section.
func follow(b *strings.Builder, before, heading string) {
	b.WriteString("\n\n")
	if heading != before && heading != "" {
		fmt.Fprintf(b, "%s\n\n", lastHeading(heading))
	}
}

// posted is the maximum of posts of a thread that are shown beside the best.
const posted = 4

// wholeOf returns for each of the best candidates which of ids are the passages of its
// text: its best passage, the neighbours of that which retrievers found if they are to
// be joined, and the best passages of others in its thread. ids holds the best
// passages at first, and the others are appended.
func wholeOf(best []*order.Candidate, ids []passage.ID, joined bool) ([]passage.ID, [][]int) {
	whole := make([][]int, len(best))
	for i, c := range best {
		for o := c.Best - 1; o <= c.Best+1; o++ {
			switch {
			case o == c.Best:
				whole[i] = append(whole[i], i)
			case joined && slices.Contains(c.Passages, o):
				whole[i] = append(whole[i], len(ids))
				ids = append(ids, passage.NewID(c.Record, o))
			}
		}
		for _, post := range c.Posts[:min(len(c.Posts), posted)] {
			whole[i] = append(whole[i], len(ids))
			ids = append(ids, passage.NewID(post.Record, post.Best))
		}
		slices.SortFunc(whole[i], func(a, b int) int { return cmp.Compare(ids[a], ids[b]) })
	}
	return ids, whole
}
