package passage_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"almanac/retrieval/passage"
)

func TestCompiledFilter(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2025, 3, n, 12, 0, 0, 0, time.UTC) }
	table := []passage.Words{{Kind: "Topic", Source: "forum", Container: "Trade", State: "open"}, {Kind: "doc"}, {}}
	for _, c := range []struct {
		name   string
		filter passage.Filter
		words  uint32
		date   time.Time
		want   bool
	}{
		{"nothing is asked", passage.Filter{}, 2, time.Time{}, true},
		{"a kind in another case", passage.Filter{Kinds: []string{"none", "topic"}}, 0, day(1), true},
		{"another kind", passage.Filter{Kinds: []string{"topic"}}, 1, day(1), false},
		{"one of four words differs",
			passage.Filter{Sources: []string{"forum"}, Containers: []string{"trade"}, States: []string{"closed"}}, 0,
			day(1), false},
		{"the first moment", passage.Filter{Since: day(5)}, 0, day(5), true},
		{"before it", passage.Filter{Since: day(5)}, 0, day(5).Add(-time.Microsecond), false},
		{"a part of a microsecond after it", passage.Filter{Since: day(5).Add(time.Nanosecond)}, 0, day(5), false},
		{"the last moment", passage.Filter{Until: day(5)}, 0, day(5), false},
		{"before that", passage.Filter{Until: day(5)}, 0, day(5).Add(-time.Microsecond), true},
		{"a part of a microsecond before that", passage.Filter{Until: day(5).Add(time.Nanosecond)}, 0, day(5), true},
		{"no date, since", passage.Filter{Since: day(5)}, 0, time.Time{}, false},
		{"no date, until", passage.Filter{Until: day(5)}, 0, time.Time{}, false},
	} {
		m := c.filter.Compile(table)
		if got := m.Match(c.words, passage.Attributes{Date: c.date}.UnixMicro()); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		w := table[c.words]
		a := passage.Attributes{Kind: w.Kind, Source: w.Source, Container: w.Container, State: w.State, Date: c.date}
		if got := c.filter.Admits(7, a); got != c.want {
			t.Errorf("%s: admits %v", c.name, got)
		}
		c.filter.Records = []int64{6, 8}
		if c.filter.Admits(7, a) || c.filter.Admits(8, a) != c.want {
			t.Errorf("%s: it admits a record that is not asked for, or not one that is", c.name)
		}
	}
}

// TestFoldCase holds for every character what makes two values have the same
// form exactly when they are equal: each is equal to its form, and all that
// fold to each other have one.
func TestFoldCase(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		form := passage.FoldCase(string(r))
		if !strings.EqualFold(form, string(r)) {
			t.Errorf("%U %q has the form %q, which is not equal to it", r, r, form)
		}
		if next := unicode.SimpleFold(r); passage.FoldCase(string(next)) != form {
			t.Errorf("%U %q and %U %q are equal and have different forms", r, r, next, next)
		}
	}
	for value, want := range map[string]string{"": "", "DOC-7 x": "doc-7 x", "Général": "général", "ΣΑΣ": "σασ",
		"σας": "σασ", "a\xff\xfeb": "a\uFFFD\uFFFDb"} {
		if got := passage.FoldCase(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}
