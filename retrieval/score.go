package retrieval

import (
	"cmp"
	"math"
	"slices"

	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
)

// steepness is the linear score that is shown as 1/(1+1/e).
const steepness = 4

// score scores the candidates by the plan's model and orders them.
func score(r *run, candidates []*candidate) []*candidate {
	r.Plan.Scorer.signals(candidates)
	for _, c := range candidates {
		c.Features[ranking.Authority] = r.Plan.AuthorityOf(c.Document)
	}
	normalise(candidates)
	for _, c := range candidates {
		c.Linear = r.Plan.Model.Score(c.Z, c.Features)
		c.Shown = logistic(c.Linear)
	}
	slices.SortFunc(candidates, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.Linear, a.Linear), cmp.Compare(a.Record, b.Record))
	})
	return candidates
}

// logistic maps a linear score to the number between 0 and 1 that clients get.
func logistic(linear float64) float64 { return 1 / (1 + math.Exp(-linear/steepness)) }

// aboveFloor drops neighbours that share no word with the query and are not
// near either, so that a search can have no results.
func aboveFloor(r *run, candidates []*candidate) []*candidate {
	floor, meant := max(r.Plan.Profile.Floor, r.Plan.Unrelated), r.Plan.Meant()
	return slices.DeleteFunc(candidates, func(c *candidate) bool {
		return !c.Lexical && (!meant || c.Features[ranking.Dense] < floor)
	})
}

// liveFirst puts what is over behind the first record of its kind that is not and has as
// much of the query. By more of its name it is still found first.
func liveFirst(_ *run, candidates []*candidate) []*candidate {
	for i, c := range slices.Backward(candidates) {
		if !c.Document.Over {
			continue
		}
		behind := slices.IndexFunc(candidates[i:], func(x *candidate) bool {
			return !x.Document.Over && x.Document.Attributes.Kind == c.Document.Attributes.Kind &&
				x.Features[ranking.Coverage] >= c.Features[ranking.Coverage]
		})
		if behind > 0 {
			c.Shown = candidates[i+behind].Shown
			copy(candidates[i:i+behind], candidates[i+1:])
			candidates[i+behind] = c
		}
	}
	return candidates
}

// crossEncode reorders the best candidates by a cross-encoder's scores of their
// best passages, which count as much as the profile says, both normalised over
// what it read. The linear model keeps a part because it uses identifiers and
// sources, which a cross-encoder does not see. The list of scores stays as it is.
func crossEncode(r *run, candidates []*candidate) []*candidate {
	rules := r.Plan.Profile.Rules.CrossEncoder
	if len(candidates) < 2 {
		return candidates
	}
	best := candidates[:min(rules.Depth, len(candidates))]
	ids, titles := make([]passage.ID, len(best)), make([]string, len(best))
	for i, c := range best {
		ids[i], titles[i] = passage.NewID(c.Record, c.Best), c.Document.Title
	}
	read, err := r.crossScores(ids, titles)
	if err != nil {
		r.leaveOut(crossEncoderStage)
		return candidates
	}
	scores := make([]float64, len(best))
	for i, c := range best {
		scores[i] = c.Shown
	}
	linear := slices.Clone(scores)
	ranking.Normalise(linear)
	ranking.Normalise(read)
	order := make([]int, len(best))
	for i := range order {
		order[i] = i
	}
	joined := func(i int) float64 { return (1-rules.Weight)*linear[i] + rules.Weight*read[i] }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(joined(b), joined(a)) })
	before := slices.Clone(best)
	for rank, i := range order {
		best[rank] = before[i]
		best[rank].Shown = scores[rank]
	}
	return candidates
}
