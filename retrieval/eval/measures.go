package eval

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// Cut is the depth of nDCG and of what a page of results shows, RecallCut that of
// the deeper recall.
const (
	Cut       = 10
	RecallCut = 100
)

// Measures of one ranking.
type Measures struct {
	NDCG10     float64 `json:"ndcg10"`
	Recall100  float64 `json:"recall100"`
	MRR        float64 `json:"mrr"`
	Judged10   float64 `json:"judged10"`
	P10        float64 `json:"p10"`
	Recall10   float64 `json:"recall10"`
	Unjudged10 float64 `json:"unjudged10"`
	// Condensed10 is nDCG@10 of the ranking without unjudged documents (Sakai:
	// Alternatives to Bpref, SIGIR 2007), which plain nDCG takes for irrelevant. If
	// only relevant documents are judged for a query it is plain nDCG.
	Condensed10 float64 `json:"condensed_ndcg10"`
}

// Measure computes the measures of a ranking of document ids: nDCG with gain
// 2^grade − 1 and discount log2(rank + 1) (Järvelin, Kekäläinen 2002), ideal
// over all judgments, negative grades being 0; precision, recall and reciprocal
// rank of documents with a grade of at least relevantFrom; the shares of the first
// ten results that are judged and that are not, both 0 without any; and nDCG of
// the judged documents. Precision is of ten, however few are found. A ranking names
// each document once. Copies share one place, on both sides: the ranking has them at
// that of the first, with its grade, the ideal with the highest of them.
func Measure(ranking []string, judgments map[string]int, relevantFrom int, same Same) Measures {
	return newTopic(judgments, same).measure(ranking, relevantFrom)
}

func (t topic) measure(ranking []string, relevantFrom int) (m Measures) {
	shown := t.distinct(ranking)
	relevant, first, found, judged := 0, 0, 0, 0
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
		if i < Cut {
			first++
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
	m.P10 = float64(first) / Cut
	if relevant > 0 {
		m.Recall10, m.Recall100 = float64(first)/float64(relevant), float64(found)/float64(relevant)
	}
	if n := min(Cut, len(shown)); n > 0 {
		m.Judged10, m.Unjudged10 = float64(judged)/float64(n), float64(n-judged)/float64(n)
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

// Named is one of the measures with its names.
type Named struct {
	Key   string // as in JSON
	Title string // "nDCG@10"
	Of    func(*Measures) *float64
}

// AllMeasures has every measure once, the most telling first.
var AllMeasures = []Named{
	{"ndcg10", "nDCG@10", func(m *Measures) *float64 { return &m.NDCG10 }},
	{"mrr", "MRR", func(m *Measures) *float64 { return &m.MRR }},
	{"p10", "P@10", func(m *Measures) *float64 { return &m.P10 }},
	{"recall10", "recall@10", func(m *Measures) *float64 { return &m.Recall10 }},
	{"recall100", "recall@100", func(m *Measures) *float64 { return &m.Recall100 }},
	{"judged10", "judged@10", func(m *Measures) *float64 { return &m.Judged10 }},
	{"unjudged10", "unjudged@10", func(m *Measures) *float64 { return &m.Unjudged10 }},
	{"condensed_ndcg10", "condensed", func(m *Measures) *float64 { return &m.Condensed10 }},
}

// mean averages the measures of the queries that were measured.
func mean(of []QueryReport) (m Measures) {
	n := 0.0
	for _, x := range of {
		if x.Failure != "" {
			continue
		}
		n++
		for _, k := range AllMeasures {
			*k.Of(&m) += *k.Of(&x.Measures)
		}
	}
	for _, k := range AllMeasures {
		*k.Of(&m) /= math.Max(1, n)
	}
	return m
}

// percentile returns the p-quantile, p from 0 to 1, of sorted values by nearest
// rank: the least value that at least that share of them does not exceed.
func percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(p*float64(len(sorted))))-1)]
}

// Floor holds the least values of measures, by their keys.
type Floor map[string]float64

// Check returns an error that names a key without a measure, or a value that no
// measure has.
func (f Floor) Check() error {
	var keys []string
	for _, m := range AllMeasures {
		keys = append(keys, m.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains(keys, key) {
			return fmt.Errorf("there is no measure %q: known are %s", key, strings.Join(keys, ", "))
		}
		if !(f[key] >= 0 && f[key] <= 1) {
			return fmt.Errorf("the floor of %s is %v: must be between 0 and 1", key, f[key])
		}
	}
	return nil
}

// Under says what of a report is under the floor and by how much, a line each.
// Failures are: a mean over the other queries is of no use as a check.
func (f Floor) Under(r Report) (lines []string) {
	if len(f) == 0 {
		return nil
	}
	name := r.Collection + ", " + r.Profile
	if n := r.Unmeasured(); n > 0 {
		lines = append(lines, fmt.Sprintf("%s: %d of %d searches failed or were incomplete", name, n, r.Queries))
	}
	for _, m := range AllMeasures {
		least, set := f[m.Key]
		if got := *m.Of(&r.Measures); set && got < least {
			lines = append(lines, fmt.Sprintf("%s: %s is %.4f, %.4f under its floor of %.4f", name, m.Title, got,
				least-got, least))
		}
	}
	return lines
}
