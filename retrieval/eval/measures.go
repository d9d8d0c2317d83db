package eval

import (
	"cmp"
	"math"
	"slices"
)

// Cut is the depth of nDCG and judged@k, RecallCut that of recall.
const (
	Cut       = 10
	RecallCut = 100
)

// Measures of one ranking.
type Measures struct {
	NDCG10    float64 `json:"ndcg10"`
	Recall100 float64 `json:"recall100"`
	MRR       float64 `json:"mrr"`
	Judged10  float64 `json:"judged10"`
	// Condensed10 is nDCG@10 of the ranking without unjudged documents (Sakai:
	// Alternatives to Bpref, SIGIR 2007), which plain nDCG takes for irrelevant. If
	// only relevant documents are judged for a query it is plain nDCG.
	Condensed10 float64 `json:"condensed_ndcg10"`
}

// Measure computes the measures of a ranking of document ids: nDCG with gain
// 2^grade − 1 and discount log2(rank + 1) (Järvelin, Kekäläinen 2002), ideal
// over all judgments, negative grades being 0; recall and reciprocal rank of
// documents with a grade of at least relevantFrom; the share of the first ten
// that is judged at all; and nDCG of the judged documents. A ranking names each
// document once. Copies share one place, on both sides: the ranking has them at
// that of the first, with its grade, the ideal with the highest of them.
func Measure(ranking []string, judgments map[string]int, relevantFrom int, same Same) Measures {
	return newTopic(judgments, same).measure(ranking, relevantFrom)
}

func (t topic) measure(ranking []string, relevantFrom int) (m Measures) {
	shown := t.distinct(ranking)
	relevant, found, judged := 0, 0, 0
	for _, g := range t.best {
		if g >= relevantFrom {
			relevant++
		}
	}
	for i, id := range shown {
		g, ok := t.grades[id]
		if ok && i < Cut {
			judged++
		}
		if !ok || g < relevantFrom {
			continue
		}
		if i < RecallCut {
			found++
		}
		if m.MRR == 0 {
			m.MRR = 1 / float64(i+1)
		}
	}
	if best := t.ideal(); best > 0 {
		m.NDCG10 = t.gained(shown) / best
		m.Condensed10 = m.NDCG10
		if t.explicit() {
			m.Condensed10 = t.gained(t.distinct(t.judged(ranking))) / best
		}
	}
	if relevant > 0 {
		m.Recall100 = float64(found) / float64(relevant)
	}
	if n := min(Cut, len(shown)); n > 0 {
		m.Judged10 = float64(judged) / float64(n)
	}
	return m
}

// explicit reports whether some document is judged irrelevant.
func (t topic) explicit() bool {
	for _, g := range t.grades {
		if g <= 0 {
			return true
		}
	}
	return false
}

// gained returns the discounted gain of a ranking without copies at the cut.
func (t topic) gained(shown []string) float64 {
	sum := 0.0
	for i, id := range shown[:min(Cut, len(shown))] {
		sum += gain(t.grades[id]) / math.Log2(float64(i+2))
	}
	return sum
}

// ideal returns the discounted gain at the cut of the best possible ranking.
func (t topic) ideal() float64 {
	grades := slices.SortedFunc(slices.Values(t.best), func(a, b int) int { return cmp.Compare(b, a) })
	sum := 0.0
	for i, g := range grades[:min(Cut, len(grades))] {
		sum += gain(g) / math.Log2(float64(i+2))
	}
	return sum
}

func gain(grade int) float64 { return math.Exp2(float64(max(0, grade))) - 1 }

// mean averages the measures of queries.
func mean(of []QueryReport) Measures {
	var m Measures
	for _, x := range of {
		m.NDCG10 += x.NDCG10
		m.Recall100 += x.Recall100
		m.MRR += x.MRR
		m.Judged10 += x.Judged10
		m.Condensed10 += x.Condensed10
	}
	n := math.Max(1, float64(len(of)))
	return Measures{m.NDCG10 / n, m.Recall100 / n, m.MRR / n, m.Judged10 / n, m.Condensed10 / n}
}

// percentile returns the p-quantile, p from 0 to 1, of sorted values by nearest
// rank: the least value that at least that share of them does not exceed.
func percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(p*float64(len(sorted))))-1)]
}
