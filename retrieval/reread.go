package retrieval

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"almanac/retrieval/passage"
)

// CrossEncoder scores how well texts answer a query, greater being better; only
// differences within one call mean something. It has its own deadline.
type CrossEncoder interface {
	Score(ctx context.Context, query string, texts []string) ([]float64, error)
}

// rereadSide is what a response names as degraded when the cross-encoder fails.
const rereadSide = "rerank"

// rereadDepth is how many of the best candidates the cross-encoder reads: what
// servers accept at once, and a search can wait for.
const rereadDepth = 30

// rereadWeight is the weight of the cross-encoder relative to the linear model,
// both normalised over the candidates it read. The linear model keeps a part
// because it uses identifiers and sources, which a cross-encoder does not see.
const rereadWeight = 0.6

// reread reorders the best candidates by a cross-encoder's scores of their best
// passages. The list of scores stays as it is.
func (e *Engine) reread(ctx context.Context, p *Plan, candidates []*candidate, degraded []string) []string {
	if e.cross == nil || len(candidates) < 2 {
		return degraded
	}
	best := candidates[:min(rereadDepth, len(candidates))]
	ids := make([]passage.ID, len(best))
	for i, c := range best {
		ids[i] = passage.NewID(c.Record, c.best)
	}
	stored, err := e.follower.Texts(ctx, ids)
	if err != nil {
		e.log.Warn("read texts for the cross-encoder", "error", err)
		return without(degraded, rereadSide)
	}
	texts := make([]string, len(best))
	for i, t := range stored {
		texts[i] = strings.Join([]string{best[i].document.Title, t.Heading, t.Text}, "\n")
	}
	read, err := ask(ctx, e.breakers.reranker,
		func() ([]float64, error) { return e.cross.Score(ctx, p.Query.Text, texts) })
	if err != nil {
		return without(degraded, rereadSide)
	}
	scores := make([]float64, len(best))
	for i, c := range best {
		scores[i] = c.score
	}
	linear, read := normalised(scores), normalised(read)
	order := make([]int, len(best))
	for i := range order {
		order[i] = i
	}
	joined := func(i int) float64 { return (1-rereadWeight)*linear[i] + rereadWeight*read[i] }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(joined(b), joined(a)) })
	before := slices.Clone(best)
	for rank, i := range order {
		best[rank] = before[i]
	}
	for rank, c := range best {
		c.score = scores[rank]
	}
	return degraded
}

// normalised returns values with mean 0 and variance 1; zeros if they are all
// the same.
func normalised(values []float64) []float64 {
	mean, variance := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(len(values))
	}
	out := make([]float64, len(values))
	for i, v := range values {
		if variance > 0 {
			out[i] = (v - mean) / math.Sqrt(variance)
		}
	}
	return out
}
