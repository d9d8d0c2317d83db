package meili

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/meilisearch/meilisearch-go"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// weighted are terms, the first the rarest.
func weighted(texts ...string) []keyword.Term {
	out := make([]keyword.Term, len(texts))
	for i, text := range texts {
		out[i] = keyword.Term{Text: text, Weight: 1, Rarity: float64(len(texts) - i)}
	}
	return out
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		name  string
		query keyword.Query
		want  []string
	}{
		{"nothing", keyword.Query{Terms: []keyword.Term{{}, {Weight: 1}, {Text: "x"}}}, nil},
		{"a term", keyword.Query{Terms: weighted("cip-56")}, []string{`"cipzm56" `, `"cipzm56zq" `}},
		{"rarest first, going round", keyword.Query{Terms: []keyword.Term{{Text: "b", Weight: 1, Rarity: 2},
			{Text: "c", Weight: 1, Rarity: 1}, {Text: "a", Weight: 1, Rarity: 3}}},
			[]string{`"a" b c `, `"azq" b c `, `"b" c a `, `"bzq" c a `, `"c" a b `, `"czq" a b `}},
		{"weights count too", keyword.Query{Terms: []keyword.Term{{Text: "a", Weight: 0.1, Rarity: 3},
			{Text: "b", Weight: 1, Rarity: 2}}},
			[]string{`"b" a `, `"bzq" a `, `"a" b `, `"azq" b `}},
		{"a repeated term", keyword.Query{Terms: slices.Repeat(weighted("a"), 3)}, []string{`"a" `, `"azq" `}},
		{"phrases go first",
			keyword.Query{Terms: weighted("a", "b"), Phrases: [][]keyword.Term{weighted("a", "c", "b")}},
			[]string{`"a c b"`, `"a c b" "a" b `, `"a c b" "azq" b `, `"a c b" "b" a `, `"a c b" "bzq" a `}},
	} {
		p, err := newPlan(c.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range p.lists {
			got = append(got, l.query)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestLongQueriesArePlannedWithinTheServersLimits(t *testing.T) {
	var texts []string
	for i := range 100 {
		texts = append(texts, fmt.Sprintf("w%d", i))
	}
	p, err := newPlan(keyword.Query{Terms: weighted(texts...),
		Phrases: [][]keyword.Term{weighted("a", "b"), weighted("c")}})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.terms) != maxTerms || len(p.lists) != 1+headLists+outstandingHeads {
		t.Errorf("%d terms in %d lists", len(p.terms), len(p.lists))
	}
	for _, l := range p.lists[1:] {
		if 2+len(l.chain) != maxWords || l.fixed != 3 || l.words != 3+len(l.chain) {
			t.Errorf("%+v", l)
		}
	}
	if _, err := newPlan(keyword.Query{Phrases: slices.Repeat([][]keyword.Term{weighted("a", "b")},
		10)}); err == nil {
		t.Error("ten phrases are accepted")
	}
}

// Assisted by an engine that has terms' frequencies one list is requested, and
// none of where terms are outstanding. Alone, a query that needs few lists reads
// them deeper.
func TestListsAndTheirDepth(t *testing.T) {
	for _, c := range []struct {
		terms, lists, depth int
		assisted            bool
	}{
		{1, 1, 100, true}, {2, 1, 100, true}, {9, 1, 100, true},
		{1, 2, 200, false}, {4, 8, 200, false}, {9, 15, 106, false},
	} {
		p, err := newPlan(keyword.Query{Assisted: c.assisted,
			Terms: weighted(strings.Fields("a b c d e f g h i")[:c.terms]...)})
		if err != nil {
			t.Fatal(err)
		}
		marked := slices.ContainsFunc(p.lists, func(l list) bool { return l.outstanding })
		if got := p.depth(200); len(p.lists) != c.lists || got != c.depth || marked == c.assisted {
			t.Errorf("%+v: %d lists %d deep, of outstanding terms %v", c, len(p.lists), got, marked)
		}
		if got := p.depth(1000); got < 500 {
			t.Errorf("%+v: a list for 1,000 hits is %d deep", c, got)
		}
	}
}

func TestScoresPutTogetherWhatListsKnow(t *testing.T) {
	p, err := newPlan(keyword.Query{Terms: weighted("a", "b", "c")}) // rarities 3, 2, 1
	if err != nil {
		t.Fatal(err)
	}
	var answers []answer
	for i, hits := range []string{
		// a b c: one has a and b, two has a
		`[{"id":"65536","_rankingScore":0.667},{"id":"131072","_rankingScore":0.333}]`,
		`[{"id":"131072","_rankingScore":0.333}]`,                                     // in two, a stands out
		`[{"id":"65536","_rankingScore":0.333},{"id":"65537","_rankingScore":0.667}]`, // b c a
		`[]`, `[]`,
		`[{"id":"65537","_rankingScore":0.333},{"id":"r3","_rankingScore":1.0}]`, // c a b: three has no passages
	} {
		for unit := range 2 {
			var decoded meilisearch.Hits
			if err := json.Unmarshal([]byte(hits), &decoded); err != nil {
				t.Fatal(err)
			}
			a, err := decode(decoded, p.lists[i].words, keyword.Unit(unit))
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, a)
		}
	}
	of := func(unit keyword.Unit) (out []answer) {
		for i := int(unit); i < len(answers); i += 2 {
			out = append(out, answers[i])
		}
		return out
	}
	for unit, want := range [][]keyword.Hit{
		keyword.Passages: {{Record: 1, Passage: passage.NewID(1, 0), Score: 3},
			{Record: 2, Passage: passage.NewID(2, 0), Score: 3}, {Record: 1, Passage: passage.NewID(1, 1), Score: 2.2}},
		keyword.Documents: {{Record: 1, Score: 4}, {Record: 3, Score: 4}, {Record: 2, Score: 3}},
	} {
		got := p.score(of(keyword.Unit(unit)), keyword.Unit(unit))
		for i := range got {
			got[i].Score = math.Round(got[i].Score*1000) / 1000
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("unit %d: %s", unit, diff)
		}
	}
}
