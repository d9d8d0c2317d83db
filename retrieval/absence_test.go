package retrieval_test

import (
	"fmt"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
)

func TestAbsent(t *testing.T) {
	f := open(t, t.TempDir())
	var records []catalog.Record
	for n := range 30 {
		records = append(records, catalog.Record{Key: fmt.Sprint(n), Title: fmt.Sprintf("Page %d", n),
			Body: strings.Repeat("harbour ", 30-n) + fmt.Sprintf("and what else there is of number%d at length", n)})
	}
	copied := strings.Repeat("harbour pilots meet the boats at the outer mark before the tide turns and guide them in ", 4)
	records = append(records,
		catalog.Record{Key: "copy a", Title: "Pilots", Body: copied},
		catalog.Record{Key: "copy b", Title: "Pilots", Body: copied},
		catalog.Record{Key: "other", Title: "Lanterns", Body: "Wicks are trimmed in the evening."})
	f.put(t, records...)
	all, _, err := f.store.List(t.Context(), catalog.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]int64{}
	for _, r := range all {
		ids[r.Key] = r.ID
	}
	shallow, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	for i := range shallow.Lists {
		shallow.Lists[i].Depth = 5
	}
	read := &retrieval.Relevance{Profiles: []ranking.Profile{shallow}}
	keyword, err := shallow.Only(ranking.KeywordEngine)
	if err != nil {
		t.Fatal(err)
	}
	keyword.Name = ranking.DefaultName
	words := &retrieval.Relevance{Profiles: []ranking.Profile{keyword}}
	pinned := &retrieval.Relevance{Profiles: []ranking.Profile{shallow}, Pins: []retrieval.Pin{{Query: "harbour",
		Places: []retrieval.Place{{ID: ids["other"], Position: 2}, {ID: ids["0"]}}}}}
	first := f.search(t, retrieval.Request{Query: "harbour pilots"}).Results[0].Record
	hidden := ids["copy a"] + ids["copy b"] - first
	for _, tt := range []struct {
		name    string
		request retrieval.Request
		record  int64
		cause   retrieval.Cause
		why     string
	}{
		{"a result", retrieval.Request{Query: "harbour"}, ids["0"], retrieval.Present, "it is result"},
		{"nothing", retrieval.Request{Query: "harbour"}, 99, retrieval.NotIndexed, "no such record"},
		{"the filter", retrieval.Request{Query: "harbour", Filter: passage.Filter{Kinds: []string{"cip"}}}, ids["0"],
			retrieval.Filtered, `by its kind, which is "doc"`},
		{"an exclusion", retrieval.Request{Query: "harbour -pilots"}, first, retrieval.Excluded, `"pilots"`},
		{"a phrase", retrieval.Request{Query: `"outer mark" harbour`}, ids["0"], retrieval.Excluded, `"outer mark"`},
		{"depth", retrieval.Request{Query: "harbour", Relevance: read}, ids["20"], retrieval.TooDeep, "the profile reads 5"},
		{"the floor", retrieval.Request{Query: "harbour"}, ids["other"], retrieval.BelowFloor, "below the floor"},
		{"no list", retrieval.Request{Query: "harbour", Relevance: words}, ids["other"], retrieval.Unfound, "no list has it"},
		{"a pin", retrieval.Request{Query: "harbour", Relevance: pinned}, ids["other"], retrieval.Present, "pinned to 2"},
		{"a burial", retrieval.Request{Query: "harbour", Relevance: pinned}, ids["0"], retrieval.Present, "buried"},
		{"a pin that the filter leaves out", retrieval.Request{Query: "harbour", Relevance: pinned,
			Filter: passage.Filter{Kinds: []string{"cip"}}}, ids["other"], retrieval.Filtered, `by its kind`},
		{"a copy", retrieval.Request{Query: "harbour pilots"}, hidden, retrieval.Collapsed, "100 % alike) of record"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, err := f.engine.Absent(t.Context(), tt.request, tt.record)
			if err != nil {
				t.Fatal(err)
			}
			if a.Cause != tt.cause || !strings.Contains(a.Why, tt.why) {
				t.Errorf("cause is %q: %s", a.Cause, a.Why)
			}
			shown, all := 0, tt.request
			all.Limit = retrieval.MaxResults
			res, err := f.engine.Search(t.Context(), all)
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range res.Results {
				if x.Record == tt.record {
					shown = i + 1
				}
			}
			if a.Rank != shown || (shown > 0) != (tt.cause == retrieval.Present) {
				t.Errorf("rank is %d; the search shows it at %d", a.Rank, shown)
			}
			if !strings.Contains(a.Text(), a.Why) {
				t.Errorf("written as %s", a.Text())
			}
		})
	}
	a, err := f.engine.Absent(t.Context(), retrieval.Request{Query: "harbour"}, ids["7"])
	if err != nil {
		t.Fatal(err)
	}
	res := f.search(t, retrieval.Request{Query: "harbour", Limit: 30, Explain: true})
	if shown := res.Results[a.Rank-1]; shown.Record != ids["7"] || shown.Score != a.Explanation.Score.Value ||
		a.Beside == nil || a.Beside.Record != res.Results[9].Record {
		t.Errorf("rank %d with score %v, beside %+v; the search has %d with %v", a.Rank, a.Explanation.Score.Value, a.Beside,
			shown.Record, shown.Score)
	}
	deep, err := f.engine.Absent(t.Context(), retrieval.Request{Query: "harbour", Relevance: read}, ids["20"])
	if err != nil || deep.Place == 0 || deep.Explanation == nil || len(deep.Lists) == 0 || deep.Lists[0].Rank < 6 {
		t.Errorf("%+v, %v", deep, err)
	}
}
