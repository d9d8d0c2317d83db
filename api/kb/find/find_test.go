package find_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/limit"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/retrieval/passage"
	"almanac/testing/catalogfile"
)

// searcher answers each search alike, with the query and its error.
type searcher struct {
	results []retrieval.Result
	err     error
}

func (s searcher) Search(_ context.Context, r retrieval.Request) (retrieval.Response, error) {
	return retrieval.Response{Query: r.Query, Total: r.Offset, Results: s.results}, s.err
}

func (searcher) Status(context.Context) retrieval.Status { return retrieval.Status{Progress: 0.25} }

func TestAsk(t *testing.T) {
	ask := func(err error, r retrieval.Request) (retrieval.Response, error) {
		return find.Ask(t.Context(), kb.Base{Search: searcher{err: err}}, "topic", r)
	}
	res, err := ask(nil, retrieval.Request{Query: "x", Limit: 50, Offset: 1 << 40})
	if err != nil || res.Total != retrieval.MaxResults-50 {
		t.Errorf("far down: at %d, %v", res.Total, err)
	}
	internal := errors.New("engine burst")
	for _, tt := range []struct{ err, kind error }{{retrieval.ErrBadQuery, op.ErrInvalid},
		{retrieval.ErrNotReady, op.ErrUnavailable}, {internal, internal},
		{context.DeadlineExceeded, context.DeadlineExceeded}} {
		if _, err := ask(tt.err, retrieval.Request{Query: "x"}); !errors.Is(err, tt.kind) {
			t.Errorf("%v became %v", tt.err, err)
		}
	}
	if _, err := ask(retrieval.ErrBadQuery, retrieval.Request{Query: "x"}); !strings.HasPrefix(op.Explain(err).Message,
		"topic cannot be searched for: ") {
		t.Errorf("%v does not name the argument", err)
	}
}

func TestARefusedSearchSaysWhenToTryAgain(t *testing.T) {
	_, err := find.Ask(t.Context(), kb.Base{Search: searcher{err: limit.ErrBusy}}, "q", retrieval.Request{Query: "x"})
	e, ok := errors.AsType[*op.Error](err)
	if !ok || e.Kind != op.ErrUnavailable || e.RetryAfter != time.Second || e.Message != "too many searches at once" {
		t.Errorf("error %#v", err)
	}
}

func TestAnEmptySearchSaysWhatEmptiedIt(t *testing.T) {
	for want, relaxed := range map[string][]retrieval.Relaxed{
		"there are 56 without the quotes around burn mint": {{Without: `"burn mint"`, Total: 56}},
		"there are 3 without kind:doc, 12 without -wallet": {{Without: "kind:doc", Total: 3},
			{Without: "-wallet", Total: 12}},
		`there are 2 without "burn mint" "mint it" -wallet`: {{Without: `"burn mint" "mint it" -wallet`, Total: 2}},
		"use fewer or other words":                          nil,
	} {
		if got := find.Empty(0, relaxed, passage.Filter{}); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q at the end", got, want)
		}
	}
}

func TestPage(t *testing.T) {
	found := find.Found[int]{Items: []int{7}, Total: 9, Hint: "h"}
	want := kb.List[int]{Items: []int{7}, Total: 9, Limit: 1, Offset: 3, Hint: "h"}
	if diff := cmp.Diff(want, found.Page(arg.Paging{Limit: 1, Skip: arg.Skip{Offset: 3}})); diff != "" {
		t.Error(diff)
	}
}

// Ids of records; shelves have no second one.
const (
	one = catalog.FirstID + iota
	two
	three
)

// shelf is a catalog of nothing but some records.
func shelf(t *testing.T, records ...catalog.Record) *sqlstore.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: catalogfile.Empty(t), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for _, r := range records {
		put(t, store, r)
	}
	return store
}

func put(t *testing.T, store *sqlstore.Store, r catalog.Record) {
	t.Helper()
	r.Kind, r.Key, r.FirstSeenAt = catalog.KindDoc, fmt.Sprint(r.ID), time.Unix(1, 0)
	b := catalog.Batch{Source: "docs", Restore: true, Entries: []catalog.Entry{{Record: r}}}
	if _, err := store.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// run searches a shelf.
func run(t *testing.T, s *sqlstore.Store, search find.Search, results ...retrieval.Result) []find.Match {
	t.Helper()
	found, err := search.Run(t.Context(), kb.Base{Catalog: s, Search: searcher{results: results}}.Prepared())
	if err != nil {
		t.Fatal(err)
	}
	return found.Items
}

// TestMatchesHaveTheirShareOfTheBestScore: also of one that was deleted since, and of nothing.
func TestMatchesHaveTheirShareOfTheBestScore(t *testing.T) {
	s := shelf(t, catalog.Record{ID: one}, catalog.Record{ID: three})
	for _, c := range []struct {
		scores []float64
		want   []float64
	}{{[]float64{0.8, 0.4, 0.2}, []float64{1, 0.25}}, {[]float64{0, 0, 0}, []float64{1, 1}}} {
		var got []float64
		for _, m := range run(t, s, find.Search{}, retrieval.Result{Record: one, Score: c.scores[0]},
			retrieval.Result{Record: two, Score: c.scores[1]}, retrieval.Result{Record: three, Score: c.scores[2]}) {
			got = append(got, m.Relevance)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("scores %v: %v, want %v", c.scores, got, c.want)
		}
	}
}

func TestBodiesAreReadWhereTheyAreAskedFor(t *testing.T) {
	s := shelf(t, catalog.Record{ID: one, Body: "one"}, catalog.Record{ID: three, Body: "three"})
	for _, bodies := range []bool{false, true} {
		got := run(t, s, find.Search{Bodies: bodies}, retrieval.Result{Record: three, Score: 0.9},
			retrieval.Result{Record: two, Score: 0.8}, retrieval.Result{Record: one, Score: 0.7})
		if len(got) != 2 || got[0].Record.ID != three || got[0].Result.Score != 0.9 || got[1].Record.ID != one ||
			(got[0].Record.Body == "three") != bodies || (got[1].Record.Body == "one") != bodies {
			t.Errorf("bodies %v: %+v", bodies, got)
		}
	}
}

// TestARecordIsReadOnceAChange: records that were found before are not read again until the catalog has changed.
func TestARecordIsReadOnceAChange(t *testing.T) {
	s := shelf(t, catalog.Record{ID: one, Title: "one"}, catalog.Record{ID: three, Title: "three"})
	reads := 0
	b := kb.Base{Catalog: catalogfile.Around(s, func(op string, do func() error) error {
		if op == "heads" {
			reads++
		}
		return do()
	})}.Prepared()
	titles := func(ids ...int64) (titles []string) {
		t.Helper()
		var results []retrieval.Result
		for _, id := range ids {
			results = append(results, retrieval.Result{Record: id})
		}
		b.Search = searcher{results: results}
		found, err := find.Search{}.Run(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found.Items {
			titles = append(titles, m.Record.Title)
		}
		return titles
	}
	for _, ids := range [][]int64{{one, two}, {three, one}, {three}} {
		titles(ids...)
	}
	if reads != 2 {
		t.Errorf("records are read %d times, want 2", reads)
	}
	put(t, s, catalog.Record{ID: one, Title: "uno"})
	if got := titles(three, one); !slices.Equal(got, []string{"three", "uno"}) {
		t.Errorf("after a change: %v", got)
	}
}
