package eval

import (
	"cmp"
	"maps"
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
// document once.
func Measure(ranking []string, judgments map[string]int, relevantFrom int) Measures {
	var m Measures
	dcg, condensed := 0.0, 0.0
	relevant, irrelevant, found, judged, known := 0, 0, 0, 0, 0
	for _, g := range judgments {
		if g <= 0 {
			irrelevant++
		}
		if g >= relevantFrom {
			relevant++
		}
	}
	for i, id := range ranking {
		g, ok := judgments[id]
		if i < Cut {
			dcg += gain(g) / math.Log2(float64(i+2))
			if ok {
				judged++
			}
		}
		if ok {
			if known < Cut {
				condensed += gain(g) / math.Log2(float64(known+2))
			}
			known++
		}
		if ok && g >= relevantFrom {
			if i < RecallCut {
				found++
			}
			if m.MRR == 0 {
				m.MRR = 1 / float64(i+1)
			}
		}
	}
	if best := ideal(judgments); best > 0 {
		m.NDCG10, m.Condensed10 = dcg/best, dcg/best
		if irrelevant > 0 {
			m.Condensed10 = condensed / best
		}
	}
	if relevant > 0 {
		m.Recall100 = float64(found) / float64(relevant)
	}
	if n := min(Cut, len(ranking)); n > 0 {
		m.Judged10 = float64(judged) / float64(n)
	}
	return m
}

func gain(grade int) float64 { return math.Exp2(float64(max(0, grade))) - 1 }

// ideal returns the discounted gain at the cut of the best possible ranking.
func ideal(judgments map[string]int) float64 {
	grades := slices.SortedFunc(maps.Values(judgments), func(a, b int) int { return cmp.Compare(b, a) })
	sum := 0.0
	for i, g := range grades[:min(Cut, len(grades))] {
		sum += gain(g) / math.Log2(float64(i+2))
	}
	return sum
}

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
