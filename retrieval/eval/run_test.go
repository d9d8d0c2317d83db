package eval_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/retrieval/passage"
)

// canned answers queries with fixed records; a missing query is ErrBadQuery.
type canned struct {
	results  map[string][]int64
	asked    []retrieval.Request
	degraded []string
	err      error
	failing  map[string]error // by query
}

func (c *canned) Search(_ context.Context, r retrieval.Request) (retrieval.Response, error) {
	c.asked = append(c.asked, r)
	records, ok := c.results[r.Query]
	if err := cmp.Or(c.failing[r.Query], c.err); err != nil {
		return retrieval.Response{}, err
	}
	if !ok {
		return retrieval.Response{}, retrieval.ErrBadQuery
	}
	res := retrieval.Response{Degraded: c.degraded}
	for i, id := range records[:min(r.Limit, len(records))] {
		res.Results = append(res.Results, retrieval.Result{Record: id, Passage: passage.NewID(id, 0),
			Score: 1 / float64(i+1), Title: "title", Snippet: "a snippet"})
	}
	return res, nil
}

func (*canned) Status(context.Context) retrieval.Status { return retrieval.Status{Ready: true} }

// small is a collection of three queries; record 4 is another part of b.
func small() (eval.Collection, map[int64]string, *canned) {
	c := eval.Collection{Name: "small",
		Queries: []eval.Query{{ID: "q1", Text: "one", Kind: "odd"}, {ID: "q2", Text: "two", Kind: "even"},
			{ID: "q3", Text: "???", Kind: "odd"}},
		Judgments: map[string]map[string]int{
			"q1": {"a": 2, "b": 1}, "q2": {"b": 1, "gone": 1}, "q3": {"a": 1},
		}}
	names := map[int64]string{1: "a", 2: "b", 3: "c", 4: "b"}
	return c, names, &canned{results: map[string][]int64{"one": {1, 4, 2, 3}, "two": {3, 9, 4, 2}}}
}

func TestRun(t *testing.T) {
	c, names, s := small()
	done := 0
	r, err := eval.Run(t.Context(), s, c,
		eval.Options{Profile: "p", Names: names, Progress: func(n, total int) { done = n*10 + total }})
	if err != nil {
		t.Fatal(err)
	}
	var rankings []string
	for _, x := range r.PerQuery {
		rankings = append(rankings, strings.Join(x.Ranking, " "))
	}
	// Records of one document count once, records without a name not at all,
	// and a query that cannot be read has an empty ranking.
	if want := []string{"a b c", "c b", ""}; !slices.Equal(rankings, want) {
		t.Errorf("rankings %q, want %q", rankings, want)
	}
	if r.Queries != 3 || !near(r.MRR, (1+.5+0)/3, 1e-12) || !near(r.Recall100, (1+.5+0)/3, 1e-12) ||
		!near(r.Judged10, (2./3+1./2)/3, 1e-12) {
		t.Errorf("measures %+v", r.Measures)
	}
	if odd := r.Kinds["odd"]; odd.Queries != 2 || !near(odd.MRR, .5, 1e-12) || len(r.Kinds) != 2 {
		t.Errorf("kinds %+v", r.Kinds)
	}
	if done != 33 {
		t.Errorf("progress ended at %d, want 3 of 3", done)
	}
	for _, x := range s.asked {
		if x.Profile != "p" || !x.Filter.Empty() {
			t.Errorf("searched %+v", x)
		}
	}
}

func TestMissing(t *testing.T) {
	c, names, _ := small()
	c.Judgments["q2"]["ports/fees.md"], c.Judgments["q2"]["guide/harbour-dues.md"] = 0, 0
	names[5], names[6] = "harbour/fees.md", "guide/harbor-dues.md"
	want := `1 of 3 relevant documents are not indexed; of all that are named, 3 are not:
  no record has the path, key, id or address "gone"
  no record has the path, key, id or address "guide/harbour-dues.md"; did you mean "guide/harbor-dues.md"?
  no record has the path, key, id or address "ports/fees.md"; did you mean "harbour/fees.md"?
`
	if got := eval.Missing(c, names, 1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c.Pool = map[string]bool{}
	for i := range 9 {
		c.Pool[strings.Repeat("x", i+1)] = true
	}
	if got := eval.Missing(c, names, 1); !strings.HasSuffix(got, "\n  and 7 more\n") || strings.Count(got, "\n") != 7 {
		t.Errorf("of many: %s", got)
	}
	if got := eval.Missing(eval.Collection{}, names, 1); got != "" {
		t.Errorf("of none: %s", got)
	}
}

func TestRunRanksThePoolOnly(t *testing.T) {
	c, names, s := small()
	c.Pool = map[string]bool{"b": true, "elsewhere": true}
	if _, err := eval.Run(t.Context(), s, c, eval.Options{Names: names}); err != nil {
		t.Fatal(err)
	}
	if got := s.asked[0].Filter.Records; !slices.Equal(got, []int64{2, 4}) {
		t.Errorf("searched within %v, want the records of b", got)
	}
	c.Pool = map[string]bool{"elsewhere": true}
	if _, err := eval.Run(t.Context(), s, c, eval.Options{Names: names}); err == nil ||
		!strings.Contains(err.Error(), "pool") {
		t.Errorf("a pool of which nothing is indexed: %v", err)
	}
}

func TestRunReportsFailures(t *testing.T) {
	c, names, s := small()
	s.err = errors.New("engine is down")
	if _, err := eval.Run(t.Context(), s, c, eval.Options{Names: names}); !errors.Is(err, s.err) ||
		!strings.Contains(err.Error(), "q1") {
		t.Errorf("error %v, want the engine's with the query", err)
	}
	s.err = retrieval.ErrNotReady
	if _, err := eval.Run(t.Context(), s, c, eval.Options{Names: names}); !errors.Is(err, s.err) {
		t.Errorf("error %v, want that the index is loading", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.err = errors.New("cut off")
	cancel()
	if _, err := eval.Run(ctx, s, c, eval.Options{Names: names}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a run that was cancelled", err)
	}
}

// TestAFailureIsNotAZero: what could not be measured is counted apart, and is in
// neither a mean nor a comparison.
func TestAFailureIsNotAZero(t *testing.T) {
	c, names, s := small()
	whole, err := eval.Run(t.Context(), s, c, eval.Options{Names: names})
	if err != nil || whole.Failed != 0 || whole.Queries != 3 {
		t.Fatalf("%+v (%v)", whole, err)
	}
	s.failing = map[string]error{"two": errors.New("engine is down")}
	r, err := eval.Run(t.Context(), s, c, eval.Options{Names: names})
	if err != nil || r.Failed != 1 || r.Queries != 3 || r.PerQuery[1].Failure != "engine is down" {
		t.Fatalf("one of three fails: %+v (%v)", r, err)
	}
	if want := (whole.PerQuery[0].MRR + whole.PerQuery[2].MRR) / 2; !near(r.MRR, want, 1e-12) {
		t.Errorf("MRR %v, want the mean %v of the two others", r.MRR, want)
	}
	if r.CompareTo(whole); r.Comparison.Difference != 0 || r.Comparison.Better+r.Comparison.Worse != 0 {
		t.Errorf("with the run before: %+v, want no difference on what both measured", r.Comparison)
	}
	s.failing = nil
	s.degraded = []string{"vector"} // the third query is refused before an engine is asked
	r, err = eval.Run(t.Context(), s, c, eval.Options{Names: names})
	if err != nil || r.Degraded != 2 || r.Failed != 0 || r.PerQuery[0].Failure != "without vector" || r.MRR != 0 {
		t.Errorf("without an engine: %+v (%v)", r, err)
	}
	c.Queries = c.Queries[:2]
	if _, err = eval.Run(t.Context(), s, c, eval.Options{Names: names}); err == nil ||
		!strings.Contains(err.Error(), "query q1: without vector") {
		t.Errorf("nothing could be measured: %v", err)
	}
}

func TestRunTriesARelevance(t *testing.T) {
	c, names, s := small()
	tried := &retrieval.Relevance{}
	r, err := eval.Run(t.Context(), s, c, eval.Options{Names: names, Profile: "bold@3", Relevance: tried})
	if err != nil || r.Profile != "bold@3" {
		t.Errorf("%+v (%v)", r, err)
	}
	for _, x := range s.asked {
		if x.Relevance != tried || x.Profile != "" {
			t.Errorf("searched %+v, want the default profile of what is tried", x)
		}
	}
}

// TestReportKeys holds the keys that checks from outside rely on.
func TestReportKeys(t *testing.T) {
	c, names, s := small()
	r, err := eval.Run(t.Context(), s, c, eval.Options{Names: names})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var keys, kind map[string]any
	if err := json.Unmarshal(data, &keys); err != nil {
		t.Fatal(err)
	}
	want := []string{"collection", "condensed_ndcg10", "judged10", "kinds", "mrr", "ndcg10", "ndcg10_high",
		"ndcg10_low", "p10", "p50_ms", "p99_ms", "profile", "queries", "recall10", "recall100", "unjudged10"}
	if got := slices.Sorted(maps.Keys(keys)); !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
	kind = keys["kinds"].(map[string]any)["even"].(map[string]any)
	if got := slices.Sorted(maps.Keys(kind)); !slices.Equal(got,
		[]string{"condensed_ndcg10", "judged10", "mrr", "ndcg10", "ndcg10_high", "ndcg10_low", "p10", "queries", "recall10",
			"recall100", "unjudged10"}) {
		t.Errorf("keys of a kind %q", got)
	}
	r.CompareTo(r)
	if data, err = json.Marshal(r.Comparison); err != nil || !strings.Contains(string(data), `"p":1`) {
		t.Errorf("comparison with itself %s (%v)", data, err)
	}
	none := eval.Evaluate(eval.Collection{Name: "none"}, nil, eval.Options{})
	if data, err = json.Marshal(none); err != nil || !strings.Contains(string(data), `"kinds":{}`) {
		t.Errorf("a report without kinds: %s (%v)", data, err)
	}
}

func TestAnswers(t *testing.T) {
	c, names, s := small()
	o := eval.Options{Names: names, Answers: &eval.AnswerOptions{
		Tokens: func(text string) int { return len(strings.Fields(text)) },
		Texts: func(_ context.Context, ids []passage.ID) ([]string, error) {
			texts := make([]string, len(ids))
			for i, id := range ids {
				texts[i] = strings.Repeat("word ", int(id.Record())*10)
			}
			return texts, nil
		}}}
	r, err := eval.Run(t.Context(), s, c, o)
	if err != nil {
		t.Fatal(err)
	}
	// Each result costs three words of title and snippet and ten times its id:
	// q1 reads record 1; q2 reads 3, 9 and 4; q3 finds nothing to read.
	if want := (eval.Answers{MedianTokens: 13, P90Tokens: 33 + 93 + 43, Never: 1. / 3}); *r.Answers != want {
		t.Errorf("answers %+v, want %+v", *r.Answers, want)
	}
	if want := (eval.Answers{MedianTokens: 0, P90Tokens: 13, Never: .5}); *r.Kinds["odd"].Answers != want {
		t.Errorf("of the odd: %+v, want %+v", *r.Kinds["odd"].Answers, want)
	}
	o.RelevantFrom = 2
	if r, err = eval.Run(t.Context(), s, c, o); err != nil || !near(r.Answers.Never, 2./3, 1e-12) ||
		r.Answers.P90Tokens != 33+93+43+23 {
		t.Errorf("from grade 2: %+v (%v), want all results of q2 read in vain", r.Answers, err)
	}
	broken := errors.New("no texts")
	o.Answers.Texts = func(context.Context, []passage.ID) ([]string, error) { return nil, broken }
	if _, err := eval.Run(t.Context(), s, c, o); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the texts", err)
	}
}

func TestRunSurvivesTheTRECFormat(t *testing.T) {
	c, names, s := small()
	s.results["one"] = []int64{3, 1, 2}
	r, err := eval.Run(t.Context(), s, c, eval.Options{Names: names})
	if err != nil {
		t.Fatal(err)
	}
	r.PerQuery[0].Scores = []float64{.5, .5, .5} // ties keep their order
	path := filepath.Join(t.TempDir(), "run.txt")
	var b bytes.Buffer
	if err := errors.Join(eval.WriteRun(&b, r, "tag"), os.WriteFile(path, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(b.String(), "\n"); first != "q1 Q0 c 1 0.5 tag" {
		t.Errorf("first line %q", first)
	}
	rankings, err := eval.ReadRun(path)
	if err != nil {
		t.Fatal(err)
	}
	again := eval.Evaluate(c, rankings, eval.Options{})
	if again.Measures != r.Measures || !slices.Equal(again.PerQuery[0].Ranking, []string{"c", "a", "b"}) {
		t.Errorf("read again %+v of %q, want %+v", again.Measures, again.PerQuery[0].Ranking, r.Measures)
	}
	r.PerQuery[0].Ranking[1] = "two words"
	if err := eval.WriteRun(&b, r, "tag"); err == nil || !strings.Contains(err.Error(), "two words") {
		t.Errorf("an id with a space: %v", err)
	}
}

func TestReadRun(t *testing.T) {
	write := func(text string) string {
		return filepath.Join(files(t, map[string]string{"run": text}), "run")
	}
	// The score decides, then the rank, then the id; a document counts once.
	got, err := eval.ReadRun(write("q Q0 low 1 1 t\r\n\r\nq Q0 high 9 2e1 t\nq Q0 z 3 5 t\nq Q0 y 2 5 t\nq Q0 x 2 5 " +
		"t\nq Q0 high 10 -1 t\np\tQ0\ta b\t1\t1\tt\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"high", "x", "y", "z", "low"}; !slices.Equal(got["q"], want) {
		t.Errorf("ranking %q, want %q", got["q"], want)
	}
	if want := []string{"a b"}; !slices.Equal(got["p"], want) {
		t.Errorf("between tabs %q, want %q", got["p"], want)
	}
	for text, want := range map[string]string{
		"\nq Q0 d 1 0.5\n":     "run:2: want the columns",
		"q Q0 d one 0.5 t":     `run:1: rank "one"`,
		"q Q0 d 1 NaN t":       `run:1: score "NaN"`,
		"q Q0 d 1 much t":      `run:1: score "much"`,
		"q\tQ0\t\t1\t0.5\tt\n": "run:1: want the columns",
	} {
		if _, err := eval.ReadRun(write(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestEvaluatePassesOverWhatIsNotInThePool(t *testing.T) {
	c, _, _ := small()
	c.Pool = map[string]bool{"a": true, "b": true}
	r := eval.Evaluate(c, map[string][]string{"q1": {"x", "b", "b", "a"}, "q99": {"a"}}, eval.Options{})
	if got := r.PerQuery[0].Ranking; !slices.Equal(got, []string{"b", "a"}) {
		t.Errorf("ranking %q", got)
	}
	if best := 3 + 1/math.Log2(3); !near(r.PerQuery[0].NDCG10, (1+3/math.Log2(3))/best, 1e-12) || r.Queries != 3 {
		t.Errorf("measures %+v", r.PerQuery[0])
	}
}
