package kb_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/api/kb"
	"almanac/catalog"
	"almanac/retrieval"
)

// match is a result with a score.
func match(id int64, score float64) kb.Match {
	return kb.Match{Record: catalog.Record{ID: id}, Result: retrieval.Result{Score: score, Snippet: "s"}}
}

func TestHits(t *testing.T) {
	got := kb.Hits([]kb.Match{match(1, 0.8), match(2, 0.4)})
	if len(got) != 2 || got[0].Relevance != 1 || got[1].Relevance != 0.5 || got[1].Record.ID != 2 ||
		got[1].Snippet != "s" {
		t.Errorf("%+v", got)
	}
	if got := kb.Hits([]kb.Match{match(1, 0), match(2, 0)}); got[0].Relevance != 1 || got[1].Relevance != 1 {
		t.Errorf("without scores: %+v", got)
	}
}

func TestProofs(t *testing.T) {
	got := base.Proofs([]kb.Proof{
		{Record: catalog.Record{ID: 1}, Weight: 0.25}, {Record: catalog.Record{ID: 2}, Weight: 1, Why: "said so"},
		{Record: catalog.Record{ID: 3}, Weight: 0.25, Snippet: strings.Repeat("é", 301)},
	})
	if len(got) != 3 || got[0].ID != "2" || got[0].Why != "said so" || got[1].ID != "1" ||
		got[2].Snippet != strings.Repeat("é", 300) {
		t.Errorf("%+v", got)
	}
}

func TestOnly(t *testing.T) {
	for _, c := range []struct {
		value, all string
		want       []string
	}{{"", "", nil}, {"all", "all", nil}, {"all", "", []string{"all"}}, {"open", "all", []string{"open"}}} {
		if got := kb.Only(c.value, c.all); !slices.Equal(got, c.want) {
			t.Errorf("%q of %q: %v, want %v", c.value, c.all, got, c.want)
		}
	}
}

func TestPage(t *testing.T) {
	found := kb.Found[int]{Items: []int{7}, Total: 9, Hint: "h"}
	want := kb.List[int]{Items: []int{7}, Total: 9, Limit: 1, Offset: 3, Hint: "h"}
	if diff := cmp.Diff(want, found.Page(kb.Paging{Limit: 1, Skip: kb.Skip{Offset: 3}})); diff != "" {
		t.Error(diff)
	}
}

// shelf is a catalog of nothing but some records.
type shelf struct {
	catalog.Reader
	records []catalog.Record
	change  int64
	heads   []int64 // ids of those that were read without their bodies
}

func (s *shelf) LastChange(context.Context) (int64, error) { return s.change, nil }

func (s *shelf) Heads(ctx context.Context, ids []int64) ([]catalog.Record, error) {
	s.heads = append(s.heads, ids...)
	return s.Records(ctx, ids)
}

func (s *shelf) Records(_ context.Context, ids []int64) (out []catalog.Record, err error) {
	for _, r := range s.records {
		if slices.Contains(ids, r.ID) {
			out = append(out, r)
		}
	}
	return out, nil
}

func TestTexts(t *testing.T) {
	b := kb.Base{Catalog: &shelf{records: []catalog.Record{{ID: 1, Body: "one"}, {ID: 3, Body: "three"}}}}
	got, err := b.Texts(t.Context(), []kb.Match{match(3, 0.9), match(2, 0.8), match(1, 0.7)})
	if err != nil || len(got) != 2 || got[0].Record.Body != "three" || got[0].Result.Score != 0.9 ||
		got[1].Record.Body != "one" {
		t.Errorf("%+v %v", got, err)
	}
}

func TestWeighed(t *testing.T) {
	got := base.Weighed([]kb.Match{match(1, 0.6), match(2, 0.2)}, "why")
	if len(got) != 2 || got[0].Weight != 0.75 || got[1].Weight != 0.25 || got[1].Why != "why" || got[1].Snippet != "s" {
		t.Errorf("%+v", got)
	}
}

func TestBriefIsLean(t *testing.T) {
	b := kb.Brief{Item: kb.Item{ID: "1", Title: "t", URL: "u", Key: "k", Path: "p", Container: "c", Author: "a",
		Page: "x"}}
	b.Lean()
	if want := (kb.Item{ID: "1", Title: "t", URL: "u"}); b.Item != want {
		t.Errorf("%+v", b.Item)
	}
}

// TestJoinReadsARecordOnceAChange: records that were found before are not read again until the catalog has changed.
func TestJoinReadsARecordOnceAChange(t *testing.T) {
	s := &shelf{records: []catalog.Record{{ID: 1, Title: "one"}, {ID: 3, Title: "three"}}, change: 5}
	b := kb.Base{Catalog: s}.Prepared()
	titles := func(ids ...int64) (titles []string) {
		t.Helper()
		var results []retrieval.Result
		for _, id := range ids {
			results = append(results, retrieval.Result{Record: id})
		}
		matches, err := b.Join(t.Context(), results)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range matches {
			titles = append(titles, m.Record.Title)
		}
		return titles
	}
	for _, ids := range [][]int64{{1, 2}, {3, 1}, {3}} {
		titles(ids...)
	}
	if want := []int64{1, 2, 3}; !slices.Equal(s.heads, want) {
		t.Errorf("read %v, want %v", s.heads, want)
	}
	s.records, s.change = []catalog.Record{{ID: 1, Title: "uno"}}, 6
	if got := titles(3, 1); !slices.Equal(got, []string{"uno"}) {
		t.Errorf("after a change: %v", got)
	}
}
