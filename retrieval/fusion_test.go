package retrieval

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"almanac/retrieval/keyword"
	"almanac/retrieval/ranking"
)

// listOf is a list of records with a weight.
func listOf(weight float64, records ...int64) foundList {
	l := foundList{planList: planList{List: ranking.List{Weight: weight}}}
	for _, r := range records {
		l.Hits = append(l.Hits, keyword.Hit{Record: r})
	}
	return l
}

func TestReciprocal(t *testing.T) {
	lists := []foundList{
		listOf(1, 1, 2, 3),
		listOf(0.5, 3, 4),
	}
	tests := []struct {
		name  string
		lists []foundList
		limit int
		want  []fused
	}{
		{"no lists give no candidates", nil, 10, nil},
		{"ranks of every list add up", lists, 10, []fused{
			{Record: 3, Score: 1.0/63 + 0.5/61, Ranks: []int{3, 1}},
			{Record: 1, Score: 1.0 / 61, Ranks: []int{1, 0}},
			{Record: 2, Score: 1.0 / 62, Ranks: []int{2, 0}},
			{Record: 4, Score: 0.5 / 62, Ranks: []int{0, 2}},
		}},
		{"limit keeps the best", lists, 1, []fused{{Record: 3, Score: 1.0/63 + 0.5/61, Ranks: []int{3, 1}}}},
		{"equal scores order by record",
			[]foundList{listOf(1, 9), listOf(1, 5)}, 10, []fused{
				{Record: 5, Score: 1.0 / 61, Ranks: []int{0, 1}}, {Record: 9, Score: 1.0 / 61, Ranks: []int{1, 0}}}},
		{"a repeat counts at its best rank", []foundList{listOf(1, 7, 7, 8)}, 10,
			[]fused{{Record: 7, Score: 1.0 / 61, Ranks: []int{1}},
				{Record: 8, Score: 1.0 / 62, Ranks: []int{2}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := new(fusion).reciprocal(tt.lists, 60, tt.limit)
			if d := cmp.Diff(tt.want, got); d != "" && len(got)+len(tt.want) > 0 {
				t.Errorf("reciprocal: -want +got\n%s", d)
			}
		})
	}
}

func TestReciprocalNeverPrefersTheWorseRanked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.Int64Range(1, 50), 2, 30, rapid.ID).Draw(t, "ids")
		got := new(fusion).reciprocal([]foundList{listOf(1, ids...), listOf(2, ids...)}, 60,
			len(ids))
		for i, c := range got {
			if c.Record != ids[i] {
				t.Fatalf("lists that agree must keep their order: got %v at %d, want %v", c.Record, i, ids[i])
			}
		}
	})
}
