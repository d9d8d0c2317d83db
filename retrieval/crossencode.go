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

// crossEncode reorders the best candidates by a cross-encoder's scores of their
// best passages, which count as much as the profile says, both normalised over
// what it read. The linear model keeps a part because it uses identifiers and
// sources, which a cross-encoder does not see. The list of scores stays as it is.
func (s *search) crossEncode(candidates []*candidate) {
	rules := s.plan.Profile.Rules.CrossEncoder
	if s.cross == nil || len(candidates) < 2 {
		return
	}
	best := candidates[:min(rules.Depth, len(candidates))]
	read, err := s.crossScores(best)
	if err != nil {
		s.without(crossEncoder)
		return
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
	joined := func(i int) float64 { return (1-rules.Weight)*linear[i] + rules.Weight*read[i] }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(joined(b), joined(a)) })
	before := slices.Clone(best)
	for rank, i := range order {
		best[rank] = before[i]
		best[rank].score = scores[rank]
	}
}

// crossScores has the cross-encoder read the best passages of candidates.
func (s *search) crossScores(best []*candidate) ([]float64, error) {
	ids := make([]passage.ID, len(best))
	for i, c := range best {
		ids[i] = passage.NewID(c.Record, c.best)
	}
	stored, err := s.follower.Texts(s.ctx, ids)
	if err != nil {
		s.log.Warn("read texts for the cross-encoder", "error", err)
		return nil, err
	}
	texts := make([]string, len(best))
	for i, t := range stored {
		texts[i] = strings.Join([]string{best[i].document.Title, t.Heading, t.Text}, "\n")
	}
	return ask(s.ctx, s.plan.trials.reranker,
		func() ([]float64, error) { return s.cross.Score(s.ctx, s.plan.Query.Text, texts) })
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
