package derive

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
)

// GrantBase is what the grants of a catalog are like: what drafts are compared
// with.
type GrantBase struct {
	AcceptedN, DeclinedN int

	units     symbols              // as all grants write them
	sums      map[string][]float64 // of accepted grants by unit, ascending
	steps     []float64            // numbers of milestones of accepted grants, ascending
	documents map[string]int       // accepted grants with a word
	passed    map[string]*[2]int   // by check: accepted, declined grants
}

// maxGraded bounds the grants of each outcome that base rates are computed
// from, the newest first.
const maxGraded = 100

// NewGrantBase reads the proposals of a catalog with their bodies, newest first,
// and runs the checks on those that were merged or closed.
func NewGrantBase(grants []catalog.Record) *GrantBase {
	b := &GrantBase{sums: map[string][]float64{}, documents: map[string]int{}, passed: map[string]*[2]int{}}
	var graded [2][]grantDraft
	var statements []string
	for _, r := range grants {
		d, err := catalog.Decode[catalog.Grant](r)
		if err != nil || r.Body == "" {
			continue
		}
		if d.Funding != "" {
			statements = append(statements, d.Funding)
		}
		switch outcome := GrantOutcome(r, d); {
		case outcome == GrantMerged && len(graded[0]) < maxGraded:
			graded[0] = append(graded[0], readDraft(r.Body))
		case outcome == GrantClosed && len(graded[1]) < maxGraded:
			graded[1] = append(graded[1], readDraft(r.Body))
		}
	}
	b.units = unitSymbols(statements)
	b.AcceptedN, b.DeclinedN = len(graded[0]), len(graded[1])
	for _, d := range graded[0] {
		b.learn(d)
	}
	for _, list := range b.sums {
		slices.Sort(list)
	}
	slices.Sort(b.steps)
	for i, list := range graded {
		for _, d := range list {
			b.grade(d, i)
		}
	}
	return b
}

// learn adds an accepted grant to the distributions.
func (b *GrantBase) learn(d grantDraft) {
	if a := b.units.parse(d.funding); a.Value > 0 {
		b.sums[a.Unit] = append(b.sums[a.Unit], a.Value)
	}
	if n := len(d.milestones); n > 0 {
		b.steps = append(b.steps, float64(n))
	}
	for w := range wordCounts(d.text) {
		b.documents[w]++
	}
}

// grade runs the checks on a grant. Overlap is not graded: an accepted grant
// overlaps with itself.
func (b *GrantBase) grade(d grantDraft, outcome int) {
	for _, c := range grantChecks {
		if c.name == "overlap" {
			continue
		}
		if b.passed[c.name] == nil {
			b.passed[c.name] = new([2]int)
		}
		if c.run(d, b, nil).passed {
			b.passed[c.name][outcome]++
		}
	}
}

// rates are the shares of accepted and declined grants that pass a check.
func (b *GrantBase) rates(check string) (accepted, declined *float64) {
	n := b.passed[check]
	if n == nil {
		return nil, nil
	}
	if b.AcceptedN > 0 {
		accepted = new(share(n[0], b.AcceptedN))
	}
	if b.DeclinedN > 0 {
		declined = new(share(n[1], b.DeclinedN))
	}
	return accepted, declined
}

func (a Amount) String() string {
	return strconv.FormatFloat(a.Value, 'f', -1, 64) + " " + a.Unit
}

var wordForm = regexp.MustCompile(`\pL{4,30}`)

// wordCounts counts the words of at least four letters of a text.
func wordCounts(text string) map[string]int {
	counts := map[string]int{}
	for _, w := range wordForm.FindAllString(strings.ToLower(text), -1) {
		counts[w]++
	}
	return counts
}

// vector weighs the words of a text by tf-idf, (1 + log tf) · log(1 + N/df): N
// accepted grants, df of them with the word. Its length is 1.
func (b *GrantBase) vector(text string) map[string]float64 {
	v := map[string]float64{}
	sum := 0.0
	for w, n := range wordCounts(text) {
		x := (1 + math.Log(float64(n))) * math.Log(1+float64(b.AcceptedN)/float64(max(1, b.documents[w])))
		v[w] = x
		sum += x * x
	}
	for w := range v {
		v[w] /= math.Sqrt(sum)
	}
	return v
}

func cosine(a, b map[string]float64) float64 {
	sum := 0.0
	for w, x := range a {
		sum += x * b[w]
	}
	return sum
}

// quantile is a value of an ascending list, by nearest rank.
func quantile(sorted []float64, q float64) float64 {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// below is the share of an ascending list that is less than a value.
func below(sorted []float64, x float64) float64 {
	i, _ := slices.BinarySearch(sorted, x)
	return float64(i) / float64(len(sorted))
}
