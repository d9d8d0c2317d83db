package retrieval_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
)

// harbour is a fixture of ten pages on harbours, the first the best, and one on
// something else; order returns the keys of an answer.
func harbour(t *testing.T, options ...option) (f *fixture, ids map[string]int64, order func(retrieval.Request) []string) {
	t.Helper()
	f = open(t, t.TempDir(), options...)
	var records []catalog.Record
	for n := range 10 {
		records = append(records, catalog.Record{Key: fmt.Sprint(n), Title: fmt.Sprintf("Page %d", n),
			Body: strings.Repeat("harbour ", 10-n) +
				fmt.Sprintf("and what else there is of number%d, at length and in detail", n)})
	}
	records = append(records, catalog.Record{Key: "other", Title: "Lanterns",
		Body: "Wicks are trimmed in the evening."})
	f.put(t, records...)
	all, _, err := f.store.List(t.Context(), catalog.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	ids, keys := map[string]int64{}, map[int64]string{}
	for _, r := range all {
		ids[r.Key], keys[r.ID] = r.ID, r.Key
	}
	return f, ids, func(r retrieval.Request) (out []string) {
		t.Helper()
		res := f.search(t, r)
		if !slices.IsSortedFunc(res.Results, func(a, b retrieval.Result) int {
			return int(1e9 * (b.Score - a.Score))
		}) {
			t.Errorf("%q: scores increase", r.Query)
		}
		for _, x := range res.Results {
			out = append(out, keys[x.Record])
		}
		return out
	}
}

// publish publishes the default profile with pins.
func (f *fixture) publish(pins ...retrieval.Pin) error {
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		return err
	}
	return f.engine.Publish(retrieval.Relevance{Profiles: []ranking.Profile{p}, Pins: pins})
}

func TestPins(t *testing.T) {
	f, ids, order := harbour(t)
	before := order(retrieval.Request{Query: "the harbour", Limit: 20})
	if len(before) != 10 {
		t.Fatalf("without pins %v is found", before)
	}
	first, second, third, last := before[0], before[1], before[2], before[9]
	err := f.publish(retrieval.Pin{Query: "The  Harbour", Places: []retrieval.Place{
		{ID: ids[last], Position: 2}, {ID: ids["other"], Position: 1}, {ID: ids[second]},
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Concat([]string{"other", last, first, third}, before[3:9], []string{second})
	if got := order(retrieval.Request{Query: "the harbour?", Limit: 20}); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := order(retrieval.Request{Query: "the harbour", Limit: 3, Offset: 1}); !slices.Equal(got, want[1:4]) {
		t.Errorf("the second page %v, want %v", got, want[1:4])
	}
	for name, r := range map[string]retrieval.Request{
		"another query":  {Query: "harbour"},
		"an exclusion":   {Query: "the harbour -lantern"},
		"a phrase":       {Query: `the "harbour"`},
		"a filter of it": {Query: "the harbour", Filter: passage.Filter{Records: []int64{ids[first], ids[third]}}},
	} {
		r.Limit = 20
		if got := order(r); slices.Contains(got, "other") {
			t.Errorf("%s: %v", name, got)
		}
	}
	res := f.search(t, retrieval.Request{Query: "the harbour", Limit: 20, Explain: true})
	for i, x := range res.Results {
		holdExplanation(t, x)
		want, got := map[int]string{0: "pinned to 1", 1: "pinned to 2", 10: "buried"}[i], ""
		if last := x.Explanation.Score.Parts[len(x.Explanation.Score.Parts)-1]; last.Name == "pin" {
			got, _, _ = strings.Cut(last.Formula, ":")
		}
		if got != want {
			t.Errorf("result %d explains its place by %q, want %q", i+1, got, want)
		}
	}
	if res.Total != 11 {
		t.Errorf("%d results in all", res.Total)
	}
	if err := f.publish(); err != nil {
		t.Fatal(err)
	}
	if got := order(retrieval.Request{Query: "the harbour", Limit: 20}); !slices.Equal(got, before) {
		t.Errorf("without the pin again %v, want %v", got, before)
	}
}

func TestPinsAreInForceForDays(t *testing.T) {
	today := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	f, ids, order := harbour(t, func(f *fixture) { f.now = func() time.Time { return today.Add(15 * time.Hour) } })
	day := func(n int) time.Time { return today.AddDate(0, 0, n) }
	for _, c := range []struct {
		from, until time.Time
		want        bool
	}{
		{time.Time{}, time.Time{}, true}, {day(0), day(0), true}, {day(-1), day(1), true}, {day(1), time.Time{}, false},
		{time.Time{}, day(-1), false}, {time.Time{}, day(0), true}, {day(0), time.Time{}, true},
	} {
		pin := retrieval.Pin{Query: "harbour", Places: []retrieval.Place{{ID: ids["other"], Position: 1}}, From: ranking.Day{Time: c.from},
			Until: ranking.Day{Time: c.until}}
		err := f.publish(pin)
		if err != nil {
			t.Fatal(err)
		}
		if got := order(retrieval.Request{Query: "harbour"})[0] == "other"; got != c.want {
			t.Errorf("from %v until %v: %v", c.from, c.until, got)
		}
	}
	// The first in force counts; a record that is gone leaves no hole.
	gone, other := retrieval.Place{ID: 1 << 40, Position: 1}, retrieval.Place{ID: ids["other"], Position: 2}
	err := f.publish(retrieval.Pin{Query: "harbour", Places: []retrieval.Place{gone}, Until: ranking.Day{Time: day(-1)}},
		retrieval.Pin{Query: "harbour", Places: []retrieval.Place{gone, other}})
	if err != nil {
		t.Fatal(err)
	}
	if got := order(retrieval.Request{Query: "harbour"}); got[1] != "other" {
		t.Errorf("found %v", got)
	}
}

func TestPublishRefuses(t *testing.T) {
	f, ids, order := harbour(t)
	first := []retrieval.Place{{ID: ids["other"], Position: 1}}
	if err := f.publish(retrieval.Pin{Query: "harbour", Places: first}); err != nil {
		t.Fatal(err)
	}
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	profiles := []ranking.Profile{p}
	broken := p
	broken.Weights = map[string]float64{"fame": 1}
	pin := func(query string, places ...retrieval.Place) retrieval.Relevance {
		return retrieval.Relevance{Profiles: profiles, Pins: []retrieval.Pin{{Query: query, Places: places}}}
	}
	for name, r := range map[string]retrieval.Relevance{
		"no default profile":  {},
		"an unknown feature":  {Profiles: []ranking.Profile{broken}},
		"an empty query":      pin(" ?"),
		"an excluded word":    pin("harbour -buoy"),
		"an operator":         pin("kind:doc harbour"),
		"a negative position": pin("harbour", retrieval.Place{ID: 1, Position: -1}),
		"a position too far":  pin("harbour", retrieval.Place{ID: 1, Position: retrieval.MaxResults + 1}),
		"a record twice":      pin("harbour", retrieval.Place{ID: 1, Position: 1}, retrieval.Place{ID: 1}),
		"a position twice": pin("harbour", retrieval.Place{ID: 1, Position: 1},
			retrieval.Place{ID: 2, Position: 1}),
		"an end before the beginning": {Profiles: profiles, Pins: []retrieval.Pin{
			{Query: "harbour", From: ranking.Day{Time: time.Unix(1e6, 0)},
				Until: ranking.Day{Time: time.Unix(1, 0)}}}},
	} {
		if err := f.engine.Publish(r); err == nil {
			t.Errorf("%s is published", name)
		}
	}
	if got := order(retrieval.Request{Query: "harbour"}); got[0] != "other" {
		t.Errorf("after refusals %v is found", got)
	}
}

// TestASearchUsesOneSet publishes two sets in turn while searches run: each
// answer is that of one of them, never of both.
func TestASearchUsesOneSet(t *testing.T) {
	f, ids, _ := harbour(t)
	sets := make([]retrieval.Relevance, 2)
	for i, name := range []string{ranking.DefaultName, "keyword"} {
		p, err := ranking.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Name = ranking.DefaultName
		sets[i] = retrieval.Relevance{Profiles: []ranking.Profile{p},
			Aliases: map[string][]string{"harbour": {fmt.Sprint("number", i)}},
			Pins:    []retrieval.Pin{{Query: "harbour", Places: []retrieval.Place{{ID: ids["other"], Position: 1 + i}}}}}
	}
	if err := f.engine.Publish(sets[0]); err != nil {
		t.Fatal(err)
	}
	var searching sync.WaitGroup
	end := make(chan struct{})
	var whole atomic.Int64 // answers
	for range 3 {
		searching.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				res, err := f.engine.Search(t.Context(), retrieval.Request{Query: "harbour", Explain: true})
				if err != nil {
					t.Error(err)
					return
				}
				whole.Add(1)
				at := slices.IndexFunc(res.Results, func(r retrieval.Result) bool { return r.Record == ids["other"] })
				reranked := res.Results[2].Explanation.Score.Parts[0].Name == "logistic"
				if reranked != (at == 0) || !reranked != (at == 1) {
					t.Errorf("reranked %v, the pin at %d", reranked, at)
					return
				}
			}
		})
	}
	for i := 0; i < 200 || whole.Load() < 50; i++ {
		if err := f.engine.Publish(sets[i%2]); err != nil {
			t.Error(err)
		}
		runtime.Gosched()
		if t.Failed() {
			break
		}
	}
	close(end)
	searching.Wait()
}
