package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"almanac/retrieval"
	"almanac/retrieval/dedup"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
)

// Example is one judged query with the signals of its candidates.
type Example struct {
	Collection string
	Query      Query
	Documents  []string // of the candidates, as ranked now; several may be of one
	Places     []int    // of the candidates: equal for those of one document or of copies
	Z, Raw     []ranking.Vector
	Grades     []int   // of the candidates
	Copies     [][]int // of each candidate: the candidates near-identical to it
	Preference []int   // of each candidate: the greatest of a cluster is shown
	Ideal      float64 // discounted gain of the ideal ranking over all judgments
}

// Signaler is what training needs of the engine.
type Signaler interface {
	Signals(ctx context.Context, r retrieval.Request) ([]retrieval.Signal, error)
}

// Examples computes the signals of every query of a collection.
func Examples(ctx context.Context, s Signaler, c Collection, o Options) ([]Example, error) {
	var filter passage.Filter
	if c.Pool != nil {
		filter.Records = pooled(c, o.Names)
	}
	var out []Example
	for i, q := range c.Queries {
		request := retrieval.Request{Query: q.Text, Filter: filter, Relevance: o.Relevance}
		if o.Relevance == nil {
			request.Profile = o.Profile
		}
		signals, err := s.Signals(ctx, request)
		if err != nil {
			if errors.Is(err, retrieval.ErrBadQuery) {
				continue
			}
			return nil, fmt.Errorf("eval: query %s: %w", q.ID, err)
		}
		judgments := newTopic(c.Judgments[q.ID], c.same(o.Same))
		x := Example{Collection: c.Name, Query: q, Ideal: judgments.ideal()}
		place := make([]int, len(signals)) // index among the candidates, −1 for none
		for j, sig := range signals {
			name := o.Names[sig.Record]
			place[j] = -1
			if name == "" {
				continue
			}
			place[j] = len(x.Documents)
			x.Documents = append(x.Documents, name)
			x.Z, x.Raw, x.Grades = append(x.Z, sig.Z), append(x.Raw, sig.Raw), append(x.Grades, c.Judgments[q.ID][name])
			x.Preference = append(x.Preference, sig.Preference)
		}
		for j, sig := range signals {
			if place[j] < 0 {
				continue
			}
			var copies []int
			for _, k := range sig.Copies {
				if place[k] >= 0 {
					copies = append(copies, place[k])
				}
			}
			x.Copies = append(x.Copies, copies)
		}
		x.Places = judgments.places(x.Documents)
		out = append(out, x)
		if o.Progress != nil {
			o.Progress(i+1, len(c.Queries))
		}
	}
	return out, nil
}

// NDCG is nDCG@10 of an example's candidates in the order of a model.
func (x Example) NDCG(m ranking.Model) float64 {
	return x.ndcg(x.order(m))
}

// Shown is nDCG@10 in the order of a model with copies collapsed: one of every cluster.
func (x Example) Shown(m ranking.Model) float64 {
	return x.ndcg(x.collapse(x.order(m)))
}

// collapse keeps of every cluster of copies in an order only the one to show.
func (x Example) collapse(order []int) []int {
	clusters := dedup.Collapse(len(order),
		func(a, b int) bool { return slices.Contains(x.Copies[order[a]], order[b]) },
		func(a, b int) bool { return x.Preference[order[a]] > x.Preference[order[b]] })
	shown := make([]int, len(clusters))
	for i, c := range clusters {
		shown[i] = order[c[0]]
	}
	return shown
}

// withoutCopies keeps one candidate of every document, and of every cluster the
// one that is shown in the present order.
func (x Example) withoutCopies() Example {
	var order []int
	for i, name := range x.Documents {
		if slices.Index(x.Documents, name) == i {
			order = append(order, i)
		}
	}
	out := x
	out.Z, out.Raw, out.Grades = nil, nil, nil
	for _, i := range x.collapse(order) {
		out.Z, out.Raw, out.Grades = append(out.Z, x.Z[i]), append(out.Raw, x.Raw[i]), append(out.Grades, x.Grades[i])
	}
	return out
}

// order returns the indexes of the candidates, best first.
func (x Example) order(m ranking.Model) []int {
	scores, order := x.scores(m), make([]int, len(x.Z))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	return order
}

// scores returns the scores of the candidates.
func (x Example) scores(m ranking.Model) []float64 {
	out := make([]float64, len(x.Z))
	for i := range x.Z {
		out[i] = m.Score(x.Z[i], x.Raw[i])
	}
	return out
}

// gain is the sum of the gains of the candidates.
func (x Example) gain() (total float64) {
	for _, g := range x.Grades {
		total += gain(g)
	}
	return total
}

// ndcg returns the nDCG@10 of an order, in which a document counts once, at its
// best rank, and so do copies.
func (x Example) ndcg(order []int) float64 {
	if x.Ideal == 0 {
		return 0
	}
	dcg := 0.0
	seen := map[int]bool{}
	for _, at := range order {
		if seen[x.Places[at]] {
			continue
		}
		seen[x.Places[at]] = true
		dcg += gain(x.Grades[at]) / math.Log2(float64(len(seen)+1))
		if len(seen) == Cut {
			break
		}
	}
	return dcg / x.Ideal
}

// teaches reports whether there is something to learn from the example: some candidate is relevant.
func (x Example) teaches() bool {
	return len(x.Z) > 1 && slices.ContainsFunc(x.Grades, func(g int) bool { return g > 0 })
}

// TrainOptions are the choices of training.
type TrainOptions struct {
	Fixed ranking.Vector // rules that are not trained
	// L2 regularises every weight towards 0. Training is convex, so that the result depends only on the examples; of
	// copies, their order decides which takes part.
	L2 float64
	// Skip are features that get no weight.
	Skip map[ranking.Feature]bool
}

// Train fits the weights of a linear model: listwise softmax cross-entropy
// between gains and scores (Cao et al.: Learning to rank, ICML 2007, top-one
// probability) with an L2 penalty, by Newton's method. Every collection counts
// the same, however many queries it has; a page with copies counts once.
func Train(all []Example, o TrainOptions) (ranking.Model, error) {
	count := map[string]int{}
	examples := make([]Example, len(all))
	for i, x := range all {
		count[x.Collection]++
		examples[i] = x.withoutCopies()
	}
	m := ranking.Model{Fixed: o.Fixed}
	for range 50 {
		gradient, hessian := make([]float64, ranking.NumFeatures), make([][]float64, ranking.NumFeatures)
		for f := range hessian {
			hessian[f] = make([]float64, ranking.NumFeatures)
			gradient[f] = o.L2 * m.Weights[f]
			hessian[f][f] = o.L2
		}
		for _, x := range examples {
			addGradient(x, m, 1/float64(count[x.Collection]*len(count)), gradient, hessian)
		}
		for f := range ranking.NumFeatures {
			for g := range f { // the sums hold the upper half
				hessian[f][g] = hessian[g][f]
			}
		}
		for f := range ranking.NumFeatures {
			if o.Skip[ranking.Feature(f)] {
				gradient[f] = 0
				for g := range hessian {
					hessian[f][g], hessian[g][f] = 0, 0
				}
				hessian[f][f] = 1
			}
		}
		step, err := solve(hessian, gradient)
		if err != nil {
			return m, err
		}
		moved, size := descend(examples, m, o, count, gradient, step)
		if m = moved; size < 1e-9 {
			break
		}
	}
	return m, nil
}

// descend takes a Newton step, halved until the loss falls enough (Armijo's
// rule): far from the optimum a whole step overshoots, because one candidate's
// score can be twenty deviations above the others. size is the length of the
// step taken, 0 at the optimum.
func descend(examples []Example, m ranking.Model, o TrainOptions, count map[string]int,
	gradient, step []float64) (moved ranking.Model, size float64) {
	slope := 0.0
	for f := range step {
		slope += gradient[f] * step[f]
		size += step[f] * step[f]
	}
	size = math.Sqrt(size)
	start := loss(examples, m, o, count)
	for share := 1.0; share > 1e-4; share /= 2 {
		moved = m
		for f := range step {
			moved.Weights[f] -= share * step[f]
		}
		if loss(examples, moved, o, count) < start-1e-4*share*slope {
			return moved, share * size
		}
	}
	return m, 0
}

// loss returns the loss that training minimises.
func loss(examples []Example, m ranking.Model, o TrainOptions, count map[string]int) float64 {
	sum := 0.0
	for f := range ranking.NumFeatures {
		sum += o.L2 / 2 * m.Weights[f] * m.Weights[f]
	}
	for _, x := range examples {
		if !x.teaches() {
			continue
		}
		scores, total := x.scores(m), x.gain()
		top := slices.Max(scores)
		exponentials, expected := 0.0, 0.0
		for i, s := range scores {
			exponentials += math.Exp(s - top)
			expected += gain(x.Grades[i]) / total * s
		}
		sum += (top + math.Log(exponentials) - expected) / float64(count[x.Collection]*len(count))
	}
	return sum
}

// addGradient adds an example's part of the loss's first and second
// derivatives; of the second, which are symmetric, only the upper half.
func addGradient(x Example, m ranking.Model, weight float64, gradient []float64, hessian [][]float64) {
	if !x.teaches() {
		return
	}
	p, total, sum := x.scores(m), x.gain(), 0.0
	top := slices.Max(p)
	for i := range p {
		p[i] = math.Exp(p[i] - top)
		sum += p[i]
	}
	var mean ranking.Vector
	for i := range p {
		p[i] /= sum
		for f := range ranking.NumFeatures {
			mean[f] += p[i] * x.Z[i][f]
			gradient[f] += weight * (p[i] - gain(x.Grades[i])/total) * x.Z[i][f]
		}
	}
	for i := range p {
		if p[i] < 1e-6 {
			continue
		}
		for f := range ranking.NumFeatures {
			d := weight * p[i] * (x.Z[i][f] - mean[f])
			row := hessian[f]
			for g := f; g < ranking.NumFeatures; g++ {
				row[g] += d * (x.Z[i][g] - mean[g])
			}
		}
	}
}

// solve solves a·x = b by Gaussian elimination with pivoting.
func solve(a [][]float64, b []float64) ([]float64, error) {
	n := len(b)
	for c := range n {
		pivot := c
		for r := c + 1; r < n; r++ {
			if math.Abs(a[r][c]) > math.Abs(a[pivot][c]) {
				pivot = r
			}
		}
		if math.Abs(a[pivot][c]) < 1e-12 {
			return nil, errors.New("eval: the features are linearly dependent: raise the penalty")
		}
		a[c], a[pivot], b[c], b[pivot] = a[pivot], a[c], b[pivot], b[c]
		for r := c + 1; r < n; r++ {
			k := a[r][c] / a[c][c]
			for j := c; j < n; j++ {
				a[r][j] -= k * a[c][j]
			}
			b[r] -= k * b[c]
		}
	}
	x := make([]float64, n)
	for c := n - 1; c >= 0; c-- {
		x[c] = b[c]
		for j := c + 1; j < n; j++ {
			x[c] -= a[c][j] * x[j]
		}
		x[c] /= a[c][c]
	}
	return x, nil
}
