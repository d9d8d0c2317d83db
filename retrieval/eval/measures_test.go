package eval_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"almanac/retrieval/eval"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestMeasure(t *testing.T) {
	// log2 of 2, 3, 4 is 1, 1.585, 2.
	judged := map[string]int{"a": 3, "b": 2, "c": 1, "d": 0, "e": -1}
	best := 7 + 3/math.Log2(3) + 1/math.Log2(4)
	filler := make([]string, 120)
	for i := range filler {
		filler[i] = "x" + strconv.Itoa(i)
	}
	deep := func(place int, id string) []string { // id at a place from 1
		return append(append([]string{}, filler[:place-1]...), id)
	}
	tests := []struct {
		name    string
		ranking []string
		from    int
		want    eval.Measures
	}{
		{"the ideal order is 1", []string{"a", "b", "c"}, 1,
			eval.Measures{NDCG10: 1, Recall100: 1, MRR: 1, Judged10: 1, Condensed10: 1}},
		{"nothing found is 0", nil, 1, eval.Measures{}},
		{"a swap costs the difference of discounts", []string{"b", "a", "c"}, 1,
			eval.Measures{NDCG10: (3 + 7/math.Log2(3) + 1/math.Log2(4)) / best, Recall100: 1, MRR: 1, Judged10: 1,
				Condensed10: (3 + 7/math.Log2(3) + 1/math.Log2(4)) / best}},
		{"the judged but useless count as judged", []string{"d", "e", "zz", "c"}, 1,
			eval.Measures{NDCG10: 1 / math.Log2(5) / best, Recall100: 1. / 3, MRR: 1. / 4, Judged10: 3. / 4,
				Condensed10: 1 / math.Log2(4) / best}},
		{"grades below the threshold are not relevant", []string{"c", "b"}, 2,
			eval.Measures{NDCG10: (1 + 3/math.Log2(3)) / best, Recall100: 1. / 2, MRR: 1. / 2, Judged10: 1,
				Condensed10: (1 + 3/math.Log2(3)) / best}},
		{"what stands eleventh has no gain", deep(11, "a"), 1,
			eval.Measures{Recall100: 1. / 3, MRR: 1. / 11, Condensed10: 7 / best}},
		{"what stands hundredth is recalled", deep(100, "a"), 1,
			eval.Measures{Recall100: 1. / 3, MRR: 1. / 100, Condensed10: 7 / best}},
		{"what stands after that is not", deep(101, "a"), 1, eval.Measures{MRR: 1. / 101, Condensed10: 7 / best}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := eval.Measure(tt.ranking, judged, tt.from, nil)
			if !near(got.NDCG10, tt.want.NDCG10, 1e-12) || !near(got.Recall100, tt.want.Recall100, 1e-12) ||
				!near(got.MRR, tt.want.MRR, 1e-12) || !near(got.Judged10, tt.want.Judged10, 1e-12) ||
				!near(got.Condensed10, tt.want.Condensed10, 1e-12) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
	if got := eval.Measure([]string{"zz", "a"}, map[string]int{"a": 1}, 1, nil); got.Condensed10 != got.NDCG10 {
		t.Errorf("where only what is relevant is judged: %+v, want plain nDCG", got)
	}
	if got := eval.Measure([]string{"x", "a", "d", "y"}, judged, 1, nil); got.Unjudged10 != .5 || got.P10 != .1 ||
		!near(got.Recall10, 1./3, 1e-12) {
		t.Errorf("two of four are unjudged, one is relevant: %+v", got)
	}
	if got := eval.Measure([]string{"d"}, map[string]int{"d": 0}, 1, nil); got.NDCG10 != 0 || got.Recall100 != 0 {
		t.Errorf("without a relevant document: %+v, want zeros and no NaN", got)
	}
}

// TestCopiesShareAPlace: a and A are copies, as are b, B and β, of which b and β
// are the same only through B.
func TestCopiesShareAPlace(t *testing.T) {
	same := func(a, b string) bool {
		return slices.Contains([]string{"aA", "Aa", "bB", "Bb", "Bβ", "βB", "xX", "Xx", "ay", "ya"}, a+b)
	}
	judged := map[string]int{"a": 3, "A": 3, "b": 2, "B": 1, "β": 2, "c": 1, "d": 0}
	best := 7 + 3/math.Log2(3) + 1/math.Log2(4)
	tests := []struct {
		name    string
		ranking []string
		want    eval.Measures
	}{
		{"one of each is ideal", []string{"A", "b", "c"},
			eval.Measures{NDCG10: 1, Recall100: 1, MRR: 1, Judged10: 1, Condensed10: 1}},
		{"and stays so with the copies", []string{"A", "a", "b", "β", "c", "B"},
			eval.Measures{NDCG10: 1, Recall100: 1, MRR: 1, Judged10: 1, Condensed10: 1}},
		{"the first of them gives its grade", []string{"B", "b", "a"},
			eval.Measures{NDCG10: (1 + 7/math.Log2(3)) / best,
				Recall100: 2. / 3, MRR: 1, Judged10: 1, Condensed10: (1 + 7/math.Log2(3)) / best}},
		{"copies that nobody judged take one place", []string{"x", "X", "a"},
			eval.Measures{NDCG10: 7 / math.Log2(3) / best, Recall100: 1. / 3, MRR: .5, Judged10: .5,
				Condensed10: 7 / best}},
		{"nor any beside a judged one above", []string{"a", "y", "b"},
			eval.Measures{NDCG10: (7 + 3/math.Log2(3)) / best,
				Recall100: 2. / 3, MRR: 1, Judged10: 1, Condensed10: (7 + 3/math.Log2(3)) / best}},
		{"but none from one below", []string{"y", "a"},
			eval.Measures{NDCG10: 7 / math.Log2(3) / best, Recall100: 1. / 3, MRR: .5, Judged10: .5,
				Condensed10: 7 / best}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := eval.Measure(tt.ranking, judged, 1, same)
			for i, want := range measured(tt.want) {
				if !near(measured(got)[i], want, 1e-12) {
					t.Errorf("got %+v, want %+v", got, tt.want)
				}
			}
		})
	}
}

// TestMeasuresAreThoseOfTrecEval: the values are those of pytrec_eval_terrier
// 0.5.11 (ndcg_cut_10 of the grades 2^g − 1, recip_rank, P_10, recall_10 and
// recall_100 with relevance_level) for the same judgments and scores that fall by
// one. A letter is a document.
func TestMeasuresAreThoseOfTrecEval(t *testing.T) {
	steep := map[string]int{"a": 3, "b": 2, "c": 1, "d": 0}
	many := map[string]int{"a": 3, "b": 2, "c": 1, "d": 0, "e": 3, "f": 1, "g": 2, "h": 1, "i": 1, "j": 2, "k": 1, "l": 3,
		"m": 1}
	for _, tt := range []struct {
		ranking string
		judged  map[string]int
		from    int
		want    eval.Measures
	}{
		{"abcdefghijklm", map[string]int{"a": 3, "b": 2, "c": 1}, 2,
			eval.Measures{NDCG10: 1, MRR: 1, P10: 0.2, Recall10: 1, Recall100: 1}},
		{"xyzcwvbutsrqpa", steep, 1,
			eval.Measures{NDCG10: 0.152316475795, MRR: 0.25, P10: 0.2, Recall10: 0.666666666667, Recall100: 1}},
		{"xyzcwvbutsrqpa", steep, 2,
			eval.Measures{NDCG10: 0.152316475795, MRR: 0.142857142857, P10: 0.1, Recall10: 0.5, Recall100: 1}},
		{"xa", map[string]int{"a": 1, "b": 3, "c": 2}, 1, eval.Measures{NDCG10: 0.0671717139668, MRR: 0.5, P10: 0.1,
			Recall10: 0.333333333333, Recall100: 0.333333333333}},
		{"xa", map[string]int{"a": 1, "b": 3, "c": 2}, 2, eval.Measures{NDCG10: 0.0671717139668}},
		{"nopqrstuvwxab", map[string]int{"a": 2, "b": 1}, 1, eval.Measures{MRR: 0.0833333333333, Recall100: 1}},
		{"dcbae", many, 1, eval.Measures{NDCG10: 0.399135568872, MRR: 0.5, P10: 0.4, Recall10: 0.333333333333,
			Recall100: 0.333333333333}},
		{"dcbae", many, 2, eval.Measures{NDCG10: 0.399135568872, MRR: 0.333333333333, P10: 0.3, Recall10: 0.5,
			Recall100: 0.5}},
	} {
		got := eval.Measure(letters(tt.ranking), tt.judged, tt.from, nil)
		for _, m := range eval.AllMeasures[:5] { // the others are not trec_eval's
			if have, want := *m.Of(&got), *m.Of(&tt.want); !near(have, want, 1e-6) {
				t.Errorf("%s from grade %d: %s is %v, want %v", tt.ranking, tt.from, m.Title, have, want)
			}
		}
	}
}

// TestAllMeasures: a measure that the list lacks would stay zero in every mean.
func TestAllMeasures(t *testing.T) {
	var m eval.Measures
	for i, x := range eval.AllMeasures {
		*x.Of(&m) = float64(i + 1)
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]float64
	if err := json.Unmarshal(data, &keys); err != nil || len(keys) != len(eval.AllMeasures) {
		t.Errorf("%d measures have names, of %s (%v)", len(eval.AllMeasures), data, err)
	}
	for i, x := range eval.AllMeasures {
		if keys[x.Key] != float64(i+1) {
			t.Errorf("%s is %v in JSON, want %d", x.Key, keys[x.Key], i+1)
		}
	}
}

func measured(m eval.Measures) []float64 {
	return []float64{m.NDCG10, m.Recall100, m.MRR, m.Judged10, m.Condensed10}
}

// TestMeasuresStayBetweenZeroAndOne with any relation of copies, and a ranking
// has the same measures when copies of what stands above are taken out of it.
func TestMeasuresStayBetweenZeroAndOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.StringMatching(`[a-z]{1,2}`)
		judged := rapid.MapOf(ids, rapid.IntRange(-2, 4)).Draw(t, "judged")
		ranking := rapid.SliceOfDistinct(ids, rapid.ID[string]).Draw(t, "ranking")
		pairs := rapid.MapOf(ids, ids).Draw(t, "copies")
		same := func(a, b string) bool { return pairs[a] == b || pairs[b] == a }
		m := eval.Measure(ranking, judged, rapid.IntRange(1, 3).Draw(t, "from"), same)
		for _, x := range measured(m) {
			if !(x >= 0 && x <= 1+1e-12) {
				t.Fatalf("%+v", m)
			}
		}
		collapsed := slices.Clone(ranking)
		for i := 0; i < len(collapsed); i++ {
			head := collapsed[i]
			rest := slices.DeleteFunc(collapsed[i+1:], func(id string) bool {
				_, one := judged[head]
				_, other := judged[id]
				return same(head, id) && (one || !other)
			})
			collapsed = collapsed[:i+1+len(rest)]
		}
		if a, b := eval.Measure(ranking, judged, 1, same),
			eval.Measure(collapsed, judged, 1, same); a.NDCG10 != b.NDCG10 {
			t.Fatalf("%+v, without copies %+v", a, b)
		}
	})
}

// TestMeasuresAgreeWithOtherTools compares with numbers of other tools on
// invented data; testdata/crosscheck/README.md says how they were made.
func TestMeasuresAgreeWithOtherTools(t *testing.T) {
	dir := filepath.Join("testdata", "crosscheck")
	c, err := eval.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	rankings, err := eval.ReadRun(filepath.Join(dir, "run.txt"))
	if err != nil {
		t.Fatal(err)
	}
	one := eval.Evaluate(c, rankings, eval.Options{})
	two := eval.Evaluate(c, rankings, eval.Options{RelevantFrom: 2})
	rows := readNumbers(t, filepath.Join(dir, "expected.tsv"))
	if len(one.PerQuery) != 12 {
		t.Fatalf("%d queries, want 12", len(one.PerQuery))
	}
	for i, x := range one.PerQuery {
		want, y := rows[x.Query.ID], two.PerQuery[i]
		got := []float64{x.NDCG10, x.Recall100, x.MRR, y.Recall100, y.MRR}
		for k := range got {
			if !near(got[k], want[k], 1e-9) {
				t.Errorf("%s, column %d: %.12f, want %.12f", x.Query.ID, k+1, got[k], want[k])
			}
		}
	}
	interval := rows["interval"]
	if !near(one.NDCG10, interval[0], 1e-9) || !near(one.Low, interval[1], 0.004) ||
		!near(one.High, interval[2], 0.004) {
		t.Errorf("mean %.6f (%.6f to %.6f), want %v", one.NDCG10, one.Low, one.High, interval)
	}
}

func TestCompareAgreesWithAnExactTest(t *testing.T) {
	var ours, theirs []float64
	var p float64
	for line := range strings.Lines(read(t, filepath.Join("testdata", "crosscheck", "paired.tsv"))) {
		fields := strings.Fields(line)
		if fields[0] == "p" {
			p = number(t, fields[1])
			continue
		}
		ours, theirs = append(ours, number(t, fields[0])), append(theirs, number(t, fields[1]))
	}
	c := eval.Compare(ours, theirs, nil)
	// 10,000 samples of a share of 0.02 stray by 0.0014.
	if !near(c.P, p, 0.005) {
		t.Errorf("p %.4f, want %.4f", c.P, p)
	}
	if again := eval.Compare(ours, theirs, nil); again != c {
		t.Errorf("a second test says %+v, the first %+v", again, c)
	}
	back := eval.Compare(theirs, ours, nil)
	if back.Difference != -c.Difference || back.P != c.P || back.Better != c.Worse {
		t.Errorf("the other way round: %+v, want the mirror of %+v", back, c)
	}
}

func TestCompare(t *testing.T) {
	same := []float64{.1, .5, .9}
	if c := eval.Compare(same, same, nil); c.P != 1 || c.Difference != 0 || c.Better+c.Worse != 0 {
		t.Errorf("equal values: %+v, want p 1", c)
	}
	if c := eval.Compare(nil, nil, nil); c.P != 1 {
		t.Errorf("no values: %+v, want p 1", c)
	}
	var high, low []float64
	for i := range 40 {
		high, low = append(high, .5+float64(i)/100), append(low, .4+float64(i)/100)
	}
	if c := eval.Compare(high, low, nil); !near(c.P, 1./10_001, 1e-12) || !near(c.Difference, .1, 1e-12) ||
		c.Better != 40 {
		t.Errorf("better everywhere: %+v, want the least p there is", c)
	}
	// One pair that counts as much as all others decides the sign.
	weights := make([]float64, 40)
	for i := range weights {
		weights[i] = 1
	}
	weights[0], low[0] = 100, .9
	if c := eval.Compare(high, low, weights); c.Difference >= 0 || c.Better != 39 {
		t.Errorf("weighted: %+v, want the heavy pair's sign", c)
	}
}

func TestBootstrap(t *testing.T) {
	if got := eval.Bootstrap(nil); got != (eval.Interval{}) {
		t.Errorf("of nothing: %+v", got)
	}
	if got := eval.Bootstrap([]float64{.4, .4, .4}); !near(got.Low, .4, 1e-9) || !near(got.High, .4, 1e-9) {
		t.Errorf("of equal values: %+v, want no width", got)
	}
	few, many := []float64{0, 1, 0, 1}, make([]float64, 400)
	for i := range many {
		many[i] = float64(i % 2)
	}
	a, b := eval.Bootstrap(few), eval.Bootstrap(many)
	if a.High-a.Low < b.High-b.Low {
		t.Errorf("width %v of few values, %v of many", a, b)
	}
	// 1.96 standard errors of a fair coin tossed 400 times.
	if !near(b.Low, .5-.049, .006) || !near(b.High, .5+.049, .006) {
		t.Errorf("%+v, want 0.451 to 0.549", b)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// readNumbers reads rows of a name and numbers below a header.
func readNumbers(t *testing.T, path string) map[string][]float64 {
	t.Helper()
	rows := map[string][]float64{}
	for line := range strings.Lines(read(t, path)) {
		fields := strings.Fields(line)
		if fields[0] == "query" {
			continue
		}
		for _, f := range fields[1:] {
			rows[fields[0]] = append(rows[fields[0]], number(t, f))
		}
	}
	return rows
}
