package workbench_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// shelf finds records in their order: all, or those that words alone find.
type shelf struct{ all, words []retrieval.Result }

func (s *shelf) Search(_ context.Context, r retrieval.Request) (retrieval.Response, error) {
	if r.Query == "" {
		return retrieval.Response{}, retrieval.ErrBadQuery
	}
	found := s.words
	for _, l := range r.Relevance.Profiles[0].Lists {
		if l.Retriever == "dense" {
			found = s.all
		}
	}
	return retrieval.Response{Results: found[:min(r.Limit, len(found))]}, nil
}

func (*shelf) Status(context.Context) retrieval.Status { return retrieval.Status{Ready: true} }

// shelved is a shelf in place of an index.
type shelved struct {
	retrieval.Searcher
	workbench.Index
}

func (s shelved) Search(ctx context.Context, r retrieval.Request) (retrieval.Response, error) {
	return s.Searcher.Search(ctx, r)
}

func (s shelved) Status(ctx context.Context) retrieval.Status { return s.Searcher.Status(ctx) }

// library is a case over five records: a.md to c.md, and two of d.md. Words alone find
// three of them.
func library(t *testing.T) (*workbench.Bench, *sqlstore.Store, catalog.Case) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	found := &shelf{}
	for i, path := range []string{"a.md", "b.md", "c.md", "d.md", "d.md"} {
		key := fmt.Sprint("k", i)
		_, err := store.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: []catalog.Entry{{Record: catalog.Record{
			Kind: catalog.KindDoc, Key: key, Path: path, Title: "Title " + key, Body: "Body of " + key}}}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := store.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		result := retrieval.Result{Record: r.ID, Title: r.Title, Text: "Passage of " + key}
		found.all = append(found.all, result)
		if i%2 == 0 {
			found.words = append(found.words, result)
		}
	}
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "harbour"}, "ada")
	if err == nil {
		err = store.PutQueries(t.Context(), c.ID, []catalog.CaseQuery{{ID: "q1", Text: "Mooring", Need: "how"},
			{ID: "q2", Text: "dues"}}, "ada")
	}
	if err != nil {
		t.Fatal(err)
	}
	return &workbench.Bench{Source: ranking.Source{Store: store, Base: retrieval.Relevance{
		Profiles: []ranking.Profile{p}}}, Index: shelved{Searcher: found}}, store, c
}

// judge stores grades of the first query.
func judge(t *testing.T, store *sqlstore.Store, c catalog.Case, by string, grades map[string]int) {
	t.Helper()
	var all []catalog.Judgment
	for target, grade := range grades {
		all = append(all, catalog.Judgment{Query: "q1", Target: target, Judge: by, Grade: grade})
	}
	if err := store.PutJudgments(t.Context(), c.ID, all); err != nil {
		t.Fatal(err)
	}
}

func targets(p workbench.Pool) []string {
	var out []string
	for _, d := range p.Documents {
		out = append(out, d.Target)
	}
	return out
}

func TestAPoolHasWhatAnyProfileFound(t *testing.T) {
	x, store, c := library(t)
	ctx := t.Context()
	q := catalog.CaseQuery{ID: "q1", Text: "Mooring"}
	both := []string{ranking.KeywordOnly, ranking.Configured, "nobody@9"}
	pool, err := x.Pool(ctx, c, q, both, 3, "person/ada")
	if err != nil {
		t.Fatal(err)
	}
	got := targets(pool)
	slices.Sort(got)
	if want := []string{"a.md", "b.md", "c.md", "doc:k4"}; !slices.Equal(got, want) {
		t.Errorf("the pool is %q, want %q: a path that two records share names neither", got, want)
	}
	if len(pool.Faults) != 1 || !strings.Contains(pool.Faults[0], "nobody@9") {
		t.Errorf("faults: %q", pool.Faults)
	}
	d := pool.Documents[pool.Find("doc:k4")]
	if d.Text != "Passage of k4" || d.Record.Body != "" {
		t.Errorf("a judge sees %+v", d)
	}
	again, err := x.Pool(ctx, c, q, []string{ranking.Configured, ranking.KeywordOnly}, 3, "person/ada")
	if err != nil || !slices.Equal(targets(again), targets(pool)) {
		t.Errorf("a judge who returns sees %q after %q, %v", targets(again), targets(pool), err)
	}
	orders := map[string]bool{}
	for i := range 20 {
		other, err := x.Pool(ctx, c, q, both, 3, fmt.Sprint("person/", i))
		if err != nil {
			t.Fatal(err)
		}
		orders[strings.Join(targets(other), " ")] = true
	}
	if len(orders) < 5 {
		t.Errorf("twenty judges see %d orders", len(orders))
	}
	// What was judged belongs to the pool, found or not; a record that is gone does not.
	judge(t, store, c, "person/bo", map[string]int{"d.md": 1, "gone.md": 3})
	if pool, err = x.Pool(ctx, c, q, both[:1], 1, "person/ada"); err != nil {
		t.Fatal(err)
	}
	got = targets(pool)
	slices.Sort(got)
	if want := []string{"a.md", "d.md"}; !slices.Equal(got, want) {
		t.Errorf("with judgments the pool is %q, want %q", got, want)
	}
	d = pool.Documents[pool.Find("d.md")]
	if err := x.Read(ctx, &d); err != nil || d.Text != "Body of k3" {
		t.Errorf("a document that no list found reads %q, %v", d.Text, err)
	}
	found, err := x.Find(ctx, c, "anything")
	if err != nil || len(found) != 4 {
		t.Errorf("a search by hand finds %d documents, %v: the records of a judged path are one", len(found), err)
	}
}

func TestACaseGoesOutAndComesBack(t *testing.T) {
	_, store, c := library(t)
	ctx := t.Context()
	judge(t, store, c, "person/ada", map[string]int{"a.md": 3, "b.md": 0})
	judge(t, store, c, "model/m", map[string]int{"a.md": 1})
	_, files, err := workbench.Export(ctx, store, "harbour", true)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in, err := workbench.ReadPath(dir)
	if err != nil || in.Name != "elsewhere" {
		t.Fatalf("%q, %v", in.Name, err)
	}
	done, err := workbench.Import(ctx, store, "copy", in, "import/elsewhere", "bo")
	if err != nil || done.Queries != 2 || done.Judgments != 2 || done.String() != "copy: 2 queries and 2 judgments added" {
		t.Fatalf("%v, %v", done, err)
	}
	before, _ := store.Queries(ctx, c.ID)
	after, err := store.Queries(ctx, done.Case.ID)
	for i := range before {
		before[i].Revision, after[i].Revision = 0, 0
	}
	if err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("queries %+v become %+v, %v", before, after, err)
	}
	// TREC's judgments alone complete a case that has the queries.
	qrels, err := workbench.ReadPath(filepath.Join(dir, "qrels.txt"))
	if err != nil || !reflect.DeepEqual(qrels.Judgments, in.Judgments) {
		t.Errorf("as TREC has them: %v, %v", qrels.Judgments, err)
	}
	if done, err = workbench.Import(ctx, store, "copy", qrels, "import/trec", "bo"); err != nil || done.Queries != 0 {
		t.Errorf("%v, %v", done, err)
	}
	all, err := workbench.List(ctx, store)
	if err != nil || len(all) != 2 || !strings.Contains(all.String(), "copy: 2 queries, 1 judged, 4 judgments") {
		t.Errorf("%v, %v", all, err)
	}
	if _, _, err := workbench.Export(ctx, store, "harbour", false, "person/nobody"); !isInvalid(err) {
		t.Errorf("judgments of nobody are %v", err)
	}
	if _, _, err := workbench.Export(ctx, store, "nowhere", false); !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("an unknown case is %v", err)
	}
}

func isInvalid(err error) bool {
	_, ok := errors.AsType[workbench.InvalidError](err)
	return ok
}

func TestAnImportThatIsWrongChangesNothing(t *testing.T) {
	_, store, _ := library(t)
	ctx := t.Context()
	queries := []eval.Query{{ID: "q1", Text: "Mooring"}, {ID: "q9", Text: "new"}}
	for name, in := range map[string]eval.Collection{
		"another text": {Queries: []eval.Query{{ID: "q1", Text: "Anchoring"}, {ID: "q9", Text: "new"}}},
		"no query":     {Queries: queries, Judgments: map[string]map[string]int{"q7": {"a.md": 1}}},
		"grade 4":      {Queries: queries, Judgments: map[string]map[string]int{"q9": {"a.md": 4}}},
	} {
		if _, err := workbench.Import(ctx, store, "harbour", in, "import/x", "bo"); !isInvalid(err) {
			t.Errorf("%s is %v", name, err)
		}
	}
	if _, err := workbench.Import(ctx, store, "new", eval.Collection{}, "import/x", "bo"); !isInvalid(err) {
		t.Errorf("judgments without a case are %v", err)
	}
	all, err := workbench.List(ctx, store)
	if err != nil || len(all) != 1 || all[0].Queries != 2 || all[0].Judgments != 0 {
		t.Errorf("afterwards there is %v, %v", all, err)
	}
	in := eval.Collection{Queries: queries, Judgments: map[string]map[string]int{"q9": {"a.md": -2}}}
	done, err := workbench.Import(ctx, store, "harbour", in, "import/x", "bo")
	if err != nil || done.Queries != 1 {
		t.Fatalf("%v, %v", done, err)
	}
	judgments, err := store.Judgments(ctx, done.Case.ID)
	if err != nil || len(judgments) != 1 || judgments[0].Grade != 0 {
		t.Errorf("a negative grade of TREC becomes %+v, %v", judgments, err)
	}
	missing, err := workbench.Missing(ctx, store, done.Case)
	if err != nil || missing != "" {
		t.Errorf("missing %q, %v", missing, err)
	}
	judge(t, store, done.Case, "person/ada", map[string]int{"dir/b.md": 2})
	if missing, err = workbench.Missing(ctx, store, done.Case); err != nil || !strings.Contains(missing, "dir/b.md") ||
		!strings.Contains(missing, "did you mean \"b.md\"") {
		t.Errorf("missing %q, %v", missing, err)
	}
}

func TestTheFirstCaseIsTheNetworks(t *testing.T) {
	_, store, c := library(t)
	ctx := t.Context()
	files := fstest.MapFS{"queries.jsonl": {Data: []byte(`{"_id":"w1","text":"wharf"}` + "\n")},
		"qrels.tsv": {Data: []byte("w1\ta.md\t3\n")}}
	if err := workbench.First(ctx, store, "sample", files); err != nil {
		t.Fatal(err)
	}
	if cases, _ := store.Cases(ctx); len(cases) != 1 {
		t.Errorf("beside a case of people there are %d", len(cases))
	}
	if err := store.DropCase(ctx, c.ID, "ada"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := workbench.First(ctx, store, "sample", files); err != nil {
			t.Fatal(err)
		}
	}
	all, err := workbench.List(ctx, store)
	if err != nil || all.String() != "sample: 1 queries, 1 judged, 1 judgments" || all[0].Judges[0].Name != "import/sample" {
		t.Errorf("%v, %v", all, err)
	}
	c, err = workbench.CaseNamed(ctx, store, "sample")
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := workbench.Collection(ctx, store, c.ID, nil)
	if err != nil || got.Judgments["w1"]["a.md"] != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestClicksAreAListOfTheirOwn(t *testing.T) {
	x, store, c := library(t)
	ctx := t.Context()
	day := time.Date(2030, 5, 1, 0, 0, 0, 0, time.UTC)
	found := x.Index.(shelved).Searcher.(*shelf).all
	count := func(query string, place, shown, clicked int) catalog.ClickCount {
		return catalog.ClickCount{Query: query, Record: found[place-1].Record, Position: place, Shown: shown, Clicked: clicked,
			LastAt: day}
	}
	// Elsewhere the first place gets half of the clicks, the second a tenth.
	err := store.CountClicks(ctx, []catalog.ClickCount{count("other", 1, 900, 450), count("other", 2, 900, 90),
		count("mooring", 1, 100, 10), count("mooring", 2, 100, 60)})
	if err != nil {
		t.Fatal(err)
	}
	judge(t, store, c, "person/ada", map[string]int{"a.md": 3})
	for range 2 { // reading them again replaces them
		n, err := workbench.Clicks(ctx, store, c, day)
		if err != nil || n != 2 {
			t.Fatalf("%d judgments, %v", n, err)
		}
	}
	judgments, err := store.Judgments(ctx, c.ID)
	if err != nil || len(judgments) != 3 {
		t.Fatalf("%+v, %v", judgments, err)
	}
	grades := map[string]int{}
	for _, j := range judgments {
		grades[j.Judge+" "+j.Target] = j.Grade
	}
	if want := map[string]int{"person/ada a.md": 3, "clicks a.md": 0, "clicks b.md": 3}; !reflect.DeepEqual(grades, want) {
		t.Errorf("grades %v, want %v", grades, want)
	}
}

func TestAModelJudgesWhatItHasNotJudged(t *testing.T) {
	x, store, c := library(t)
	ctx := t.Context()
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- string(body)
		answer := "final score: 2"
		if strings.Contains(string(body), "Title k1") {
			answer = "I would say two."
		}
		data, _ := json.Marshal(map[string]any{"message": map[string]string{"content": answer}})
		_, _ = w.Write(data)
	}))
	t.Cleanup(server.Close)
	m, err := workbench.OpenModel(workbench.ModelConfig{Kind: workbench.Ollama, URL: server.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	job := func(task workbench.JudgeTask) (workbench.Graded, error) {
		steps := 0
		runner := workbench.Runner{Source: x.Source, Index: x.Index.(shelved), Model: m}
		out, err := do[workbench.Graded](ctx, runner, task, func(done, total int) { steps = max(steps, done) })
		if err == nil && steps != out.Graded+out.Unread {
			t.Errorf("progress says %d of %+v", steps, out)
		}
		return out, err
	}
	pool := workbench.JudgeTask{Case: c.ID, Profiles: []string{ranking.KeywordOnly, ranking.Configured}, Depth: 2}
	got, err := job(pool)
	if want := (workbench.Graded{Graded: 4, Unread: 2}); err != nil || got != want { // a.md, b.md, c.md of two queries
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	if got, err = job(pool); err != nil || got.Known != 4 || got.Graded != 0 || len(asked) != 8 {
		t.Errorf("again: %+v, %v, %d questions", got, err, len(asked))
	}
	// Without profiles it judges what people judged, so that they can be compared.
	judge(t, store, c, "person/ada", map[string]int{"a.md": 3, "d.md": 2})
	if got, err = job(workbench.JudgeTask{Case: c.ID}); err != nil || got.Graded != 1 || got.Known != 1 {
		t.Errorf("to compare: %+v, %v", got, err)
	}
	judgments, err := store.Judgments(ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	agreements := workbench.Agreements(judgments)
	if len(agreements) != 1 || agreements[0].Pairs != 2 || agreements[0].A != "model/m" {
		t.Errorf("agreements: %+v", agreements)
	}
	server.Close()
	if _, err = job(workbench.JudgeTask{Case: c.ID, Profiles: []string{ranking.Configured}, Depth: 5}); err == nil {
		t.Error("a server that is away judges")
	}
	if _, err = job(workbench.JudgeTask{Case: 99}); !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("a case that is gone is %v", err)
	}
}
