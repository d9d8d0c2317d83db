package retrieval

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"almanac/retrieval/passage"
	"almanac/retrieval/rerank"
)

// located is the maximum of passages of a record among which locate chooses.
const located = 400

// locate chooses the best of all passages of each candidate, where the rerank
// saw those that retrievers named.
func (e *Engine) locate(ctx context.Context, p *Plan, candidates []*candidate) {
	for _, c := range candidates {
		ordinals := make([]int, min(len(c.document.Passages), located))
		ids := make([]passage.ID, len(ordinals))
		for o := range ordinals {
			ordinals[o], ids[o] = o, c.document.Passages[o].ID
		}
		if len(ordinals) < 2 || c.best >= located {
			continue
		}
		cosines, err := e.cosines(ctx, p, ids)
		if err != nil {
			cosines = nil // the answer says that it is degraded
		}
		scores := rerank.Locate(p.rerank, p.statistics, c.document, ordinals, cosines)
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
