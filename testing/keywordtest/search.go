package keywordtest

import (
	"slices"
	"testing"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

var none passage.Filter

func (v view) testMatching(t *testing.T) {
	for text, want := range map[string][]int64{
		"quartz": {rare}, "falcon": {titled}, "walrus": {headed}, "amber harbor": {both, onlyAmber, onlyHarbor},
		"quartz quartz": {rare}, "xylophone": nil, "xylophone quartz": {rare},
		"Zürich": {european}, "ZÜRICH": {european}, "Ελλάδα": {european}, "москва": {european},
	} {
		v.finds(t, typed(text), none, want...)
	}
	if got := v.search(t, typed("日本語"), none); !slices.Contains(got, japanese) {
		t.Errorf("日本語: %v, want %d", got, japanese)
	}
	if v.unit == keyword.Passages {
		v.finds(t, typed("marmot"), none, pathed)
	}
	if all := v.search(t, typed("ledger"), none); len(all) != filler0-titled+fillers {
		t.Errorf("a word of all records finds %d of %d", len(all), filler0-titled+fillers)
	}
	t.Run("a term without weight is not searched", func(t *testing.T) {
		q := typed("quartz falcon")
		q.Terms[1].Weight = 0
		v.finds(t, q, none, rare)
	})
	t.Run("a passage hit is the passage that matches", func(t *testing.T) {
		if v.unit != keyword.Passages {
			t.Skip("of passages")
		}
		hits := v.hits(t, typed("fjord"), none, 10)
		if len(hits) != 1 || hits[0].Passage != passage.NewID(apart, 2) {
			t.Errorf("fjord: %+v, want passage %d alone", hits, passage.NewID(apart, 2))
		}
	})
}

func (v view) testRanking(t *testing.T) {
	first := func(name, text string, want int64) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			if got := v.search(t, typed(text), none); len(got) == 0 || got[0] != want {
				t.Errorf("%q: %v, want %d first", text, got, want)
			}
		})
	}
	first("more matching terms are better", "amber harbor", both)
	first("a title is found", "falcon", titled)
	if v.OwnRanking {
		return
	}
	first("a rare term beats a common one", "ledger quartz", rare)
	t.Run("a repeated term beats a single one in a longer text", func(t *testing.T) {
		if got := v.search(t, typed("amber"), none); !slices.Equal(got, []int64{onlyAmber, both}) {
			t.Errorf("amber: %v", got)
		}
	})
	t.Run("weights decide", func(t *testing.T) {
		q := typed("quartz falcon")
		for i, want := range []int64{rare, titled} {
			q.Terms[i].Weight, q.Terms[1-i].Weight = 10, 0.1
			if got := v.search(t, q, none); len(got) != 2 || got[0] != want {
				t.Errorf("weights %v %v: %v, want %d first", q.Terms[0].Weight, q.Terms[1].Weight, got, want)
			}
		}
	})
}

func (v view) testPhrases(t *testing.T) {
	for text, want := range map[string][]int64{
		"silver comet": {inOrder}, "silver comet orbit": {inOrder}, "comet silver": {outOfOrder},
		"silver orbit": {outOfOrder}, "orbit silver": nil, "silver": {inOrder, outOfOrder, acrossFields},
		"silver xylophone": nil,
	} {
		v.finds(t, quoted(text), none, want...)
	}
	two := quoted("silver comet")
	two.Phrases = append(two.Phrases, terms("comet orbit"))
	v.finds(t, two, none, inOrder)
	two.Phrases[1] = terms("silver orbit")
	v.finds(t, two, none)
}

func (v view) testFilters(t *testing.T) {
	q := typed("amber harbor")
	for _, c := range []struct {
		name   string
		filter passage.Filter
		want   []int64
	}{
		{"kind, whatever its case", passage.Filter{Kinds: []string{"topic"}}, []int64{both, onlyAmber}},
		{"one of two kinds", passage.Filter{Kinds: []string{"DOC", "Topic"}}, []int64{both, onlyAmber, onlyHarbor}},
		{"unknown kind", passage.Filter{Kinds: []string{"none"}}, nil},
		{"source", passage.Filter{Sources: []string{"docs"}}, []int64{onlyHarbor}},
		{"container", passage.Filter{Containers: []string{"trade"}}, []int64{both}},
		{"state", passage.Filter{States: []string{"open"}}, []int64{onlyAmber, onlyHarbor}},
		{"all fields are required", passage.Filter{Kinds: []string{"topic"}, States: []string{"open"}},
			[]int64{onlyAmber}},
		{"since includes its moment", passage.Filter{Since: day(10)}, []int64{onlyAmber, onlyHarbor}},
		{"until excludes its moment", passage.Filter{Until: day(10)}, []int64{both}},
		{"since and until", passage.Filter{Since: day(6), Until: day(11)}, []int64{onlyAmber}},
		{"records", passage.Filter{Records: []int64{onlyHarbor, both, 999, both}}, []int64{both, onlyHarbor}},
		{"records and kind", passage.Filter{Records: []int64{onlyHarbor, both}, Kinds: []string{"doc"}},
			[]int64{onlyHarbor}},
	} {
		t.Run(c.name, func(t *testing.T) { v.finds(t, q, c.filter, c.want...) })
	}
	for name, filter := range map[string]passage.Filter{
		"a filter lets no others in":       {Kinds: []string{"topic"}},
		"without a date it is after none":  {Since: day(1)},
		"without a date it is before none": {Until: day(28)},
	} {
		t.Run(name, func(t *testing.T) { v.finds(t, typed("quartz"), filter) })
	}
}

func (v view) testLimits(t *testing.T) {
	for _, k := range []int{-1, 0, 1, 3, 10_000} {
		hits := v.hits(t, typed("ledger"), none, k)
		if k <= 0 && len(hits) > 0 || k > 0 && k < fillers && len(hits) != k {
			t.Errorf("k %d: %d hits", k, len(hits))
		}
	}
	all := v.hits(t, typed("ledger node"), none, 300)
	if head := v.hits(t, typed("ledger node"), none, 5); !slices.Equal(head, all[:5]) {
		t.Errorf("the best 5 are not the first of all:\n%+v\n%+v", head, all[:5])
	}
	for name, q := range map[string]keyword.Query{
		"no query":    {},
		"empty terms": {Terms: []keyword.Term{{}, {Weight: 1}}, Phrases: [][]keyword.Term{{}}},
	} {
		if hits := v.hits(t, q, none, 10); len(hits) > 0 {
			t.Errorf("%s finds %+v", name, hits)
		}
	}
}
