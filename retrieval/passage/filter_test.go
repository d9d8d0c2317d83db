package passage_test

import (
	"testing"
	"time"

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
	}
}
