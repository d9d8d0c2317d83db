package workbench_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/retrieval/corpus"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/stack"
	"almanac/retrieval/workbench"
	"almanac/testing/wait"
)

// topics are the documents; each is about one thing.
var topics = strings.Fields(`anchor beacon captain dredge ferry harbour keel lantern mooring pilot`)

// open returns a runner over an index of the topics, and a case of three queries.
func open(t *testing.T) (workbench.Runner, *sqlstore.Store, catalog.Case) {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "catalog.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	var entries []catalog.Entry
	for i, topic := range topics {
		entries = append(entries, catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: topic,
			Path: topic + ".md", Title: "About the " + topic, Data: []byte("{}"),
			Body: fmt.Sprintf("The %s comes before the %s.", topic, topics[(i+1)%len(topics)])}})
	}
	if _, err := store.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: entries}); err != nil {
		t.Fatal(err)
	}
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	keeper := stack.NewKeeper(stack.KeeperConfig{Config: stack.Config{Dir: dir, Store: store,
		Relevance: retrieval.Relevance{Profiles: []ranking.Profile{p}}, Deadline: time.Minute, Log: slog.New(slog.DiscardHandler)}})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- keeper.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, keeper.Close()); err != nil {
			t.Error(err)
		}
	})
	wait.Until(t, "the index is ready", func() bool { return keeper.Status(t.Context()).Ready })
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "harbour"}, "ada")
	if err == nil {
		err = store.PutQueries(t.Context(), c.ID, []catalog.CaseQuery{{ID: "q1", Text: "anchor", Kind: "word"},
			{ID: "q2", Text: "before the ferry", Kind: "phrase"}, {ID: "q3", Text: "keel", Kind: "word"}}, "ada")
	}
	if err == nil {
		err = store.PutJudgments(t.Context(), c.ID, []catalog.Judgment{
			{Query: "q1", Target: "anchor.md", Judge: "person/ada", Grade: 3},
			{Query: "q2", Target: "ferry.md", Judge: "person/ada", Grade: 3},
			{Query: "q3", Target: "keel.md", Judge: "person/ada", Grade: 3},
			{Query: "q3", Target: "lantern.md", Judge: "model/m", Grade: 3}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return workbench.Runner{Source: ranking.Source{Store: store, Base: retrieval.Relevance{
		Profiles: []ranking.Profile{p}}}, Index: keeper, Version: "v1"}, store, c
}

// save stores a revision of the default profile that a function changes.
func save(t *testing.T, store *sqlstore.Store, name string, change func(*ranking.Profile)) catalog.Revision {
	t.Helper()
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	change(&p)
	data, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	r, err := store.SaveRevision(t.Context(), catalog.Revision{Kind: catalog.ProfileRevision, Name: name, By: "ada",
		Data: string(data)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// do does a task as a job.
func do[R any](ctx context.Context, x workbench.Runner, task workbench.Task, progress func(done, total int)) (R,
	error) {
	var none R
	argument, err := json.Marshal(task)
	if err != nil {
		return none, err
	}
	got, err := x.Jobs()[task.Kind()](ctx,
		catalog.Request{ID: 1, Kind: task.Kind(), Argument: string(argument), By: "ada"}, progress)
	if err != nil {
		return none, err
	}
	return got.(R), nil
}

// evaluate does an EvalTask.
func evaluate(t *testing.T, x workbench.Runner, task workbench.EvalTask) (workbench.Runs, error) {
	t.Helper()
	return do[workbench.Runs](t.Context(), x, task, func(int, int) {})
}

// worst puts what matches least first.
func worst(p *ranking.Profile) {
	p.Order = "rerank"
	for name := range p.Weights {
		p.Weights[name] = -1
	}
	p.Fixed = nil
}

func TestAJobStoresARunForEachProfile(t *testing.T) {
	x, store, c := open(t)
	save(t, store, "bad", worst)
	done, all := 0, 0
	got, err := do[workbench.Runs](t.Context(), x,
		workbench.EvalTask{Case: c.ID, Profiles: []string{"live", "bad@1", "keyword"}},
		func(n, total int) { done, all = n, total })
	if err != nil || len(got.Runs) != 3 || done != 9 || all != 9 {
		t.Fatalf("%+v after %d of %d (%v)", got, done, all, err)
	}
	var runs []workbench.Run
	for _, id := range got.Runs {
		r, err := workbench.Load(t.Context(), store, id)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	generation, _, err := x.Index.Indexed()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		profile  string
		revision int
		label    string
	}{{"live", 0, "configured"}, {"bad", 1, "bad@1"}, {"keyword", 0, "keyword"}} {
		r := runs[i]
		if r.Profile != want.profile || r.Revision != want.revision || r.Report.Profile != want.label ||
			r.By != "ada" || !r.At.Equal(runs[0].At) || r.Case != c.ID || r.Version != "v1" ||
			r.Generation != generation || r.Model != x.Index.Status(t.Context()).Model || r.Model == "" {
			t.Errorf("run %d: %+v", i, r.Evaluation)
		}
		if r.Report.Queries != 3 || len(r.Report.PerQuery) != 3 || len(r.Report.Kinds) != 2 {
			t.Errorf("run %d: %+v", i, r.Report)
		}
	}
	if best := runs[0].Report; best.NDCG10 != 1 || best.PerQuery[0].Ranking[0] != "anchor.md" || best.Comparison != nil {
		t.Errorf("published: %+v", best)
	}
	if bad := runs[1].Report; bad.NDCG10 >= 1 || math.Abs(bad.Comparison.Difference-bad.NDCG10+1) > 1e-12 {
		t.Errorf("the worst profile: %+v", bad)
	}
	list, err := workbench.ListRuns(t.Context(), store, c.ID, 2)
	if err != nil || len(list) != 2 || list[0].ID != got.Runs[2] || list[0].Report.PerQuery != nil ||
		list[0].Report.NDCG10 != runs[2].Report.NDCG10 {
		t.Errorf("list %+v (%v)", list, err)
	}
}

func TestTheJudgesDecide(t *testing.T) {
	x, store, c := open(t)
	got, err := evaluate(t, x, workbench.EvalTask{Case: c.ID, Judges: []string{"model/m"},
		Profiles: []string{"configured"}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := workbench.Load(t.Context(), store, got.Runs[0])
	if err != nil || r.Judges != "model/m" || r.Report.Queries != 1 || r.Report.PerQuery[0].Query.ID != "q3" {
		t.Errorf("%+v (%v)", r, err)
	}
}

func TestAJobThatCannotBeDoneStoresNothing(t *testing.T) {
	x, store, c := open(t)
	for _, tt := range []struct {
		argument workbench.EvalTask
		want     string
	}{
		{workbench.EvalTask{Case: c.ID}, "no profile"},
		{workbench.EvalTask{Case: 99, Profiles: []string{"live"}}, "case 99"},
		{workbench.EvalTask{Case: c.ID, Judges: []string{"clicks"}, Profiles: []string{"live"}}, "no query is judged"},
		{workbench.EvalTask{Case: c.ID, Profiles: []string{"live", "gone@1"}}, "not found"},
	} {
		if _, err := evaluate(t, x, tt.argument); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.argument, err, tt.want)
		}
	}
	if _, err := x.Jobs()["eval"](t.Context(), catalog.Request{Kind: "eval", Argument: "{"}, nil); err == nil {
		t.Error("an argument that is no JSON")
	}
	x.Index = loading{x.Index}
	if _, err := evaluate(t, x, workbench.EvalTask{Case: c.ID, Profiles: []string{"live"}}); !errors.Is(err,
		retrieval.ErrNotReady) {
		t.Errorf("before the index is ready: %v", err)
	}
	if list, err := workbench.ListRuns(t.Context(), store, 0, 0); err != nil || len(list) != 0 {
		t.Errorf("%d runs are stored (%v)", len(list), err)
	}
}

// loading is an index that is not ready.
type loading struct{ workbench.Index }

func (loading) Indexed() (int64, *corpus.Corpus, error) { return 0, nil, retrieval.ErrNotReady }

// replaced is an index whose generation changes between two looks at it.
type replaced struct {
	workbench.Index
	looks *int64
}

func (r replaced) Indexed() (int64, *corpus.Corpus, error) {
	_, indexed, err := r.Index.Indexed()
	*r.looks++
	return *r.looks, indexed, err
}

func TestARunIsOfOneGeneration(t *testing.T) {
	x, _, c := open(t)
	x.Index = replaced{x.Index, new(int64)}
	_, err := evaluate(t, x, workbench.EvalTask{Case: c.ID, Profiles: []string{"live"}})
	if err == nil || !strings.Contains(err.Error(), "another index") {
		t.Errorf("error %v", err)
	}
}

func TestWhatIsPublishedHasANameThatStays(t *testing.T) {
	x, store, c := open(t)
	r := save(t, store, "bad", worst)
	if _, err := store.Publish(t.Context(), catalog.Publication{Kind: r.Kind, Name: r.Name, Number: 1, By: "ada"},
		0); err != nil {
		t.Fatal(err)
	}
	got, err := evaluate(t, x, workbench.EvalTask{Case: c.ID, Profiles: []string{"live", "configured"}})
	if err != nil {
		t.Fatal(err)
	}
	list, err := workbench.ListRuns(t.Context(), store, c.ID, 0)
	if err != nil || len(got.Runs) != 2 {
		t.Fatalf("%v (%v)", got, err)
	}
	if p := list[1]; p.Profile != "live" || p.Revision != 1 || p.Report.Profile != "bad@1" || p.Report.NDCG10 == 1 {
		t.Errorf("published: %+v", p)
	}
	if p := list[0]; p.Profile != "configured" || p.Revision != 0 || p.Report.NDCG10 != 1 ||
		p.Report.Comparison.Against != "bad@1" {
		t.Errorf("configured: %+v", p)
	}
}

func TestReportsAreKeptWithTheirCase(t *testing.T) {
	_, store, c := open(t)
	r := save(t, store, "bad", worst)
	if _, err := store.Publish(t.Context(), catalog.Publication{Kind: r.Kind, Name: r.Name, Number: 1, By: "ada"},
		0); err != nil {
		t.Fatal(err)
	}
	reports := []eval.Report{{Collection: c.Name, Profile: "live"}, {Collection: c.Name, Profile: "calm@7"},
		{Collection: c.Name, Profile: "./mine@home.yaml"}}
	if err := workbench.Keep(t.Context(), store, reports, catalog.Evaluation{By: "ci", Version: "v2"}); err != nil {
		t.Fatal(err)
	}
	list, err := workbench.ListRuns(t.Context(), store, c.ID, 0)
	if err != nil || len(list) != 3 {
		t.Fatalf("%v (%v)", list, err)
	}
	for i, want := range []string{"./mine@home.yaml 0 ./mine@home.yaml", "calm 7 calm@7", "live 1 bad@1"} {
		r := list[i]
		if got := fmt.Sprintf("%s %d %s", r.Profile, r.Revision, r.Report.Profile); got != want || r.By != "ci" ||
			r.Version != "v2" || !r.At.Equal(list[0].At) {
			t.Errorf("%s of %+v, want %s", got, r.Evaluation, want)
		}
	}
	reports[0].Collection = "elsewhere"
	if err := workbench.Keep(t.Context(), store, reports, catalog.Evaluation{}); !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("without a case: %v", err)
	}
}

func TestCompareRuns(t *testing.T) {
	query := func(id string, ndcg float64, failure string, ranking ...string) eval.QueryReport {
		return eval.QueryReport{Query: eval.Query{ID: id}, Ranking: ranking, Failure: failure,
			Measures: eval.Measures{NDCG10: ndcg}}
	}
	run := func(profile string, of ...eval.QueryReport) workbench.Run {
		return workbench.Run{Report: eval.Report{Profile: profile, PerQuery: of}}
	}
	before := run("a", query("same", .5, "", "x", "y"), query("lost", .9, "", "x", "y"), query("won", .1, "", "x", "y"),
		query("broken", .7, "", "x"), query("gone", .7, "", "x"))
	after := run("b", query("won", .3, "", "y", "x"), query("lost", .2, "", "z", "y"), query("same", .5, "", "x", "y"),
		query("broken", 0, "engine is down"), query("new", 1, "", "x"))
	d := workbench.Compare(after, before)
	var order []string
	for _, c := range d.Changes {
		order = append(order, c.Ours.Query.ID)
	}
	if !slices.Equal(order, []string{"lost", "same", "won"}) || d.Queries != 3 || d.Better != 1 || d.Worse != 1 ||
		d.Against != "a" || d.P != 1 && d.P < .5 {
		t.Errorf("%v of %+v", order, d)
	}
	if c := d.Changes[0]; c.Jaccard != 1./3 || c.RBO != eval.RBO([]string{"z", "y"}, []string{"x", "y"}, .9) ||
		c.By > -.69 {
		t.Errorf("what lost: %+v", c)
	}
	if want := (1./3 + 1 + 1) / 3; d.Jaccard < want-1e-12 || d.Jaccard > want+1e-12 {
		t.Errorf("Jaccard %v, want %v", d.Jaccard, want)
	}
	if none := workbench.Compare(run("a"), run("b")); none.Queries != 0 || none.Jaccard != 0 || none.P != 1 {
		t.Errorf("of nothing: %+v", none)
	}
}
