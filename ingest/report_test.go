package ingest_test

import (
	"testing"

	"almanac/ingest"
)

func TestReasons(t *testing.T) {
	skipped := func(locator, message string) ingest.Problem {
		return ingest.Problem{Locator: locator, Message: message, Skipped: true}
	}
	odd := ingest.Problem{Locator: "odd.md", Message: "has no date"}
	for name, tt := range map[string]struct {
		problems []ingest.Problem
		all      int
		want     string
	}{
		"none":     {nil, 0, ""},
		"warnings": {[]ingest.Problem{odd}, 0, ""},
		"one":      {[]ingest.Problem{odd, skipped("a.md", "is empty")}, 1, "a.md: is empty"},
		"a reason once": {[]ingest.Problem{skipped("a.md", "is empty"), skipped("b.md", "is a copy"),
			skipped("c.md", "is empty")}, 3, "a.md and 1 more: is empty; b.md: is a copy"},
		"more than are known": {[]ingest.Problem{skipped("a.md", "is empty")}, 40, "a.md: is empty; and 39 more"},
		"more reasons than fit": {[]ingest.Problem{skipped("a.md", "1"), skipped("b.md", "2"), skipped("c.md", "3"),
			skipped("d.md", "4")}, 4, "a.md: 1; b.md: 2; c.md: 3; and 1 more"},
	} {
		if got := ingest.Reasons(tt.problems, tt.all); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
