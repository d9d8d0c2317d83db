package community

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"almanac/catalog"
	"almanac/testing/recordtest"
)

// topicWith is one with posts so many hours ago; the first is the topic's.
func topicWith(id int64, hours ...int) []catalog.Record {
	out := []catalog.Record{{ID: id, Kind: catalog.KindTopic, Key: fmt.Sprint(id), CreatedAt: recordtest.Ago(hours[0])}}
	for i, h := range hours[1:] {
		out = append(out, catalog.Record{ID: 1000*id + int64(i), Kind: catalog.KindPost, Parent: id,
			CreatedAt: recordtest.Ago(h)})
	}
	return out
}

func order(trends []trend) []int64 {
	ids := []int64{}
	for _, t := range trends {
		ids = append(ids, t.Record.ID)
	}
	return ids
}

func TestTrendingOrder(t *testing.T) {
	counted := func(id, views, votes int64, hours int) catalog.Record {
		return catalog.Record{ID: id, Kind: catalog.KindTopic, CreatedAt: recordtest.Ago(hours),
			LastActivityAt: recordtest.Ago(1),
			Views:          views, Votes: votes}
	}
	for name, c := range map[string]struct {
		records []catalog.Record
		want    []int64
	}{
		"nothing":                            {nil, []int64{}},
		"nothing happened within the week":   {topicWith(1, 24*8, 24*7), []int64{}},
		"what is yet to come does not count": {topicWith(1, -1), []int64{}},
		"newer before older":                 {slices.Concat(topicWith(1, 30), topicWith(2, 3)), []int64{2, 1}},
		"more replies before fewer": {slices.Concat(topicWith(1, 20, 5), topicWith(2, 20, 5, 4, 3)),
			[]int64{2, 1}},
		"fresh replies before many of days ago": {slices.Concat(topicWith(1, 160, 150, 150, 150, 150),
			topicWith(2, 160, 2, 2)), []int64{2, 1}},
		"an old topic with replies of this week": {slices.Concat(topicWith(1, 24*300, 24*200, 2, 2, 2), topicWith(2, 100)),
			[]int64{1, 2}},
		"views and votes count": {[]catalog.Record{counted(1, 0, 0, 20), counted(2, 900, 0, 20),
			counted(3, 900, 7, 20)}, []int64{3, 2, 1}},
		"those of a long life count little": {[]catalog.Record{counted(1, 900, 9, 24*700), counted(2, 900, 9, 24*10)},
			[]int64{2, 1}},
		"equals by id":                     {slices.Concat(topicWith(2, 5), topicWith(1, 5)), []int64{1, 2}},
		"a record given twice counts once": {slices.Concat(topicWith(1, 5), topicWith(1, 5)), []int64{1}},
		"an orphan and other kinds do not trend": {[]catalog.Record{
			{ID: 1, Kind: catalog.KindPost, Parent: 9, CreatedAt: recordtest.Ago(1)},
			{ID: 2, Kind: catalog.KindPackageVersion, CreatedAt: recordtest.Ago(1)}}, []int64{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := order(trendsOf(c.records, recordtest.Noon)); !slices.Equal(got, c.want) {
				t.Errorf("order %v, want %v", got, c.want)
			}
		})
	}
}

func TestTrendingTellsWhatHappened(t *testing.T) {
	got := trendsOf(topicWith(1, 24*30, 24*9, 2, 1), recordtest.Noon)
	if len(got) != 1 || got[0].New != 2 || got[0].Fresh || got[0].Score <= 0 {
		t.Errorf("%+v", got)
	}
	if got := trendsOf(topicWith(1, 48), recordtest.Noon); len(got) != 1 || !got[0].Fresh ||
		math.Abs(got[0].Score-math.Log2(1.5)) > 1e-9 {
		t.Errorf("half of its weight after a half-life: %+v", got)
	}
}

// A kind with a hundred times the replies does not push out another.
func TestTrendingBalancesKinds(t *testing.T) {
	var records []catalog.Record
	for id := range int64(20) {
		hours := []int{10}
		for range 50 + 10*id {
			hours = append(hours, 5)
		}
		records = append(records, topicWith(id+1, hours...)...)
	}
	for id := range int64(5) {
		records = append(records, catalog.Record{ID: 100 + id, Kind: catalog.KindBlog, CreatedAt: recordtest.Ago(int(id))})
	}
	kinds := map[catalog.Kind]int{}
	for _, trend := range trendsOf(records, recordtest.Noon)[:15] {
		kinds[trend.Record.Kind]++
	}
	if kinds[catalog.KindBlog] < 2 || kinds[catalog.KindTopic] < 5 {
		t.Errorf("the first fifteen are %v", kinds)
	}
}

func BenchmarkTrending(b *testing.B) {
	var records []catalog.Record
	for id := range int64(2000) {
		records = append(records, topicWith(id+1, 100, 90, 80, 70, 60)...)
	}
	for b.Loop() {
		trendsOf(records, recordtest.Noon)
	}
}
