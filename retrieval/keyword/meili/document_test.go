package meili

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
)

func TestStreamsKeepEveryTerm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tokens := analysis.Analyze(rapid.OneOf(rapid.String(),
			rapid.StringMatching(`([a-zA-Z0-9]{1,4}[ ./:_@#-]){0,8}`)).Draw(t, "text"))
		s := newStream(tokens)
		positions := map[int]bool{}
		left := map[string]int{}
		for _, token := range tokens {
			positions[token.Position] = true
			left[spell(token.Term)]++
		}
		words := strings.Fields(s.text)
		if len(words) != len(positions) {
			t.Fatalf("%q has %d words for %d positions", s.text, len(words), len(positions))
		}
		for _, w := range append(words, s.names...) {
			left[w]--
		}
		for w, n := range left {
			if n != 0 {
				t.Fatalf("%q: %+d", w, n)
			}
		}
	})
}

func TestFrequentTermsStandOut(t *testing.T) {
	body := "node node node"
	for i := range 40 {
		body += fmt.Sprintf(" w%d", i)
	}
	got := outstanding(analysis.Analyze("ledger"), nil, analysis.Analyze(body))
	slices.Sort(got)
	if want := []string{"ledgerzq", "nodezq"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestFilters(t *testing.T) {
	at := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		filter passage.Filter
		want   string
	}{
		{passage.Filter{}, ""},
		{passage.Filter{Kinds: []string{"Doc", "topic"}, States: []string{`a"\b%`}},
			`kind IN ["doc", "topic"] AND state IN ["a%22%5cb%25"]`},
		{passage.Filter{Sources: []string{"x"}, Containers: []string{`" OR record = 1`}},
			`source IN ["x"] AND container IN ["%22 or record = 1"]`},
		{passage.Filter{Containers: []string{"Ελλάς", "ΕΛΛΆΣ"}}, `container IN ["ελλάσ", "ελλάσ"]`},
		{passage.Filter{Since: at, Until: at.Add(time.Nanosecond)}, "date >= 1740787200 AND date < 1740787201"},
		{passage.Filter{Records: []int64{3, 1}}, "record IN [3, 1]"},
	} {
		if got := filterOf(c.filter); got != c.want {
			t.Errorf("%+v: %s, want %s", c.filter, got, c.want)
		}
	}
}
