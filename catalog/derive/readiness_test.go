package derive_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/catalog/derive"
)

// goodDraft passes every check beside the base below.
const goodDraft = `# Tug telemetry

## Summary

Sensors on tugs that report where they are. It builds on CIP-0007 and on reefworks/pilot#12, where a prototype runs.

## Milestones

### Milestone 1: Sensors
Six sensors on two tugs, readable over the harbour's interface. Eight weeks. 4,000 HC

### Milestone 2: Report
A public report with the raw readings of one season. Ten weeks. 2,000 HC

## Funding

**Total funding request:** 6,000 HC
`

// fund are grants: five accepted ones that ask for 1,000 to 5,000 HC in two or
// three milestones, and a declined one that says nothing.
func fund() []catalog.Record {
	var all []catalog.Record
	for i := range 5 {
		body := fmt.Sprintf("# Work %d\n\nSee https://forge.example/%d and CIP-%04d.\n", i, i, i+1)
		for m := range 2 + i%2 {
			body += fmt.Sprintf(
				"\n### Milestone %d: Part %d of the lighthouse lamp number %d\nPolished lens, measured twice.\n", m+1,
				m, i)
		}
		body += fmt.Sprintf("\nTotal funding request: %d,000 HC\n", i+1)
		r := grantRecord(fmt.Sprint(i+1), "closed", fmt.Sprintf("%d,000 HC", i+1), true)
		r.Body = body
		all = append(all, r)
	}
	declined := grantRecord("9", "closed", "", false)
	declined.Body = "# A boat\n\nMoney, please."
	open := grantRecord("10", "open", "9,000,000 HC", false)
	open.Body = goodDraft
	return append(all, declined, open)
}

// passed lists the checks that a draft passes, and those that are not judged in
// parentheses.
func passed(r derive.Readiness) string {
	var names []string
	for _, c := range r.Checks {
		switch {
		case !c.Judged:
			names = append(names, "("+c.Name+")")
		case c.Passed:
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestReadiness(t *testing.T) {
	base := derive.NewGrantBase(fund())
	lamp := []catalog.Record{{Key: "3", Title: "Work 2", Body: fund()[2].Body}}
	many := "# Plan\n"
	for i := range 99 {
		many += fmt.Sprintf("\n## Milestone %d: Sail to the buoy number %d and measure how deep the water is there\n",
			i+1, i)
	}
	for _, c := range []struct {
		name, draft string
		funded      []catalog.Record
		want        string
		score       float64
	}{
		{"a good one", goodDraft, nil, "milestones code sources budget milestone_amounts schedule scope overlap", 0.9},
		{"one within the range", strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(goodDraft, "6,000", "3,000"),
			"4,000", "2,000"), "2,000 HC\n\n## F", "1,000 HC\n\n## F"), nil,
			"milestones code sources budget budget_in_range milestone_amounts schedule scope overlap", 1},
		{"nothing", "", nil, "overlap", 0.1},
		{"only headings", "# Plan\n## Milestones\n### Milestone 1\n### Milestone 2\n## Funding\n## Code\n## Sources\n",
			nil, "scope overlap", 0.15},
		{"words without content", "We have milestones, code, a repository, sources and a budget.", nil, "overlap", 0.1},
		{"one milestone twice", "## Milestone 1: Sail to the buoy and measure how deep it is\n## Milestone 2: Sail " +
			"to the buoy and measure how deep it is\n", nil, "scope overlap", 0.15},
		{"a hundred milestones", many, nil, "milestones overlap", 0.3},
		{"code in a fence", "```go\nfunc main() {\n}\n```\n", nil, "code overlap", 0.25},
		{"a repository by its address", "The source code is at `forge.example/reefworks/pilot`.", nil, "code overlap",
			0.25},
		{"a repository without a scheme", "Code at forge.example/reefworks/pilot, under Apache-2.0.", nil,
			"code overlap", 0.25},
		{"an amount in a sentence", "We ask for 3,000 HC to build a lamp.", nil, "budget budget_in_range overlap", 0.3},
		{"a range in a sentence", "We ask for 1,000 to 9,000 HC to build a lamp.", nil, "overlap", 0.1},
		{"a sentence that asks for no money", "We request review by 2 keepers.", nil, "overlap", 0.1},
		{"a slash is no address", "The prototype reads and/or writes its demo.", nil, "overlap", 0.1},
		{"an empty fence", "```\n```\n```\n\n", nil, "overlap", 0.1},
		{"milestones in a fence", "```\n## Milestone 1: Sail to the buoy and measure how deep it is\n## Milestone 2: " +
			"Sail to the reef and measure its depth\n```\n", nil, "code overlap", 0.25},
		{"one source ten times", strings.Repeat("See https://harbour.example/tides. ", 10), nil, "overlap", 0.1},
		{"two sources", "See https://harbour.example/tides and grant 7.", nil, "sources overlap", 0.25},
		{"sources below a span of code", "```make```\nSee https://harbour.example/tides and grant 7.", nil,
			"sources overlap", 0.25},
		{"sums that do not add up", strings.ReplaceAll(goodDraft, "6,000", "9,000"), nil,
			"milestones code sources budget schedule scope overlap", 0.85},
		{"a range of sums", "Total funding request: 1,000 - 9,000 HC", nil, "overlap", 0.1},
		{"another unit is not compared", "Total funding request: $900", nil, "budget (budget_in_range) overlap", 0.22},
		{"a copy", lamp[0].Body, lamp, "milestones sources budget budget_in_range scope", 0.6},
		{"a copy that names it", lamp[0].Body + "\nIt continues grant 3.", lamp,
			"milestones sources budget budget_in_range scope overlap", 0.7},
		{"unlike funded work", goodDraft, lamp,
			"milestones code sources budget milestone_amounts schedule scope overlap", 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := base.Readiness(c.draft, c.funded)
			if passed(got) != c.want || got.Score != c.score {
				t.Errorf("%.2f for %s\nwant %.2f for %s", got.Score, passed(got), c.score, c.want)
				for _, x := range got.Checks {
					t.Logf("%s %v: %s | %s", x.Name, x.Passed, x.Why, x.Text)
				}
			}
		})
	}
}

func TestReadinessSaysWhatDecided(t *testing.T) {
	got := derive.NewGrantBase(fund()).Readiness(goodDraft, nil)
	says := map[string]derive.GrantCheck{}
	weight := 0.0
	for _, c := range got.Checks {
		says[c.Name] = c
		weight += c.Weight
	}
	if math.Abs(weight-1) > 1e-9 {
		t.Errorf("the weights add up to %v", weight)
	}
	for name, want := range map[string][2]string{
		"milestones": {"2 of 2 milestones say what is delivered",
			"Sensors: Six sensors on two tugs, readable over the harbour's interface. Eight weeks. 4,000 HC"},
		"budget":          {"it requests 6000 HC", "6,000 HC"},
		"budget_in_range": {"more than 100 % of 5 accepted grants; nine of ten ask for 5000 HC at most", "6,000 HC"},
		"milestone_amounts": {"2 of 2 milestones state an amount in the unit of the total, 6000 HC together",
			"6,000 HC"},
		"schedule": {"2 of 2 milestones have a time", "Eight weeks"},
		"scope":    {"2 milestones; eight of ten accepted grants have 2 to 3", ""},
	} {
		if c := says[name]; c.Why != want[0] || c.Text != want[1] {
			t.Errorf("%s: %q, %q", name, c.Why, c.Text)
		}
	}
	for name, want := range map[string][2]float64{"milestones": {1, 0}, "code": {0, 0}, "budget_in_range": {1, 0}} {
		if c := says[name]; c.Accepted == nil || *c.Accepted != want[0] || *c.Declined != want[1] {
			t.Errorf("%s: rates %v %v, want %v", name, c.Accepted, c.Declined, want)
		}
	}
	if c := says["overlap"]; c.Accepted != nil {
		t.Errorf("overlap has a rate: %v", *c.Accepted)
	}
}

// An empty catalog leaves nothing to compare with.
func TestReadinessWithoutGrants(t *testing.T) {
	got := derive.NewGrantBase(nil).Readiness(goodDraft, nil)
	want := "milestones code sources budget (budget_in_range) milestone_amounts schedule (scope) (overlap)"
	if got.Score != 1 || passed(got) != want || got.Checks[0].Accepted != nil {
		t.Errorf("%v for %s", got.Score, passed(got))
	}
}

// BenchmarkReadinessOfLongTexts reads drafts of 300 kB, which come from anybody.
func BenchmarkReadinessOfLongTexts(b *testing.B) {
	base := derive.NewGrantBase(fund())
	for _, part := range []string{
		"a", "# ", "(", "**Milestone 1: ", "1 ", "http://x", "```\n", "Total: 1 HC\n", "CIP-1 ", "[[", "\xff",
		"### Milestone 1: a\n", "1.1.1 ",
	} {
		b.Run(fmt.Sprintf("%q", part), func(b *testing.B) {
			text := strings.Repeat(part, 300_000/len(part))
			for b.Loop() {
				base.Readiness(text, nil)
			}
		})
	}
}

func FuzzReadiness(f *testing.F) {
	base := derive.NewGrantBase(fund())
	for _, s := range []string{goodDraft, "", "```", "**Milestone 1:", "Total: $1", "\xff\xfe", tug} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, draft string) {
		got := base.Readiness(draft, []catalog.Record{{Key: "1", Body: draft}})
		if got.Score < 0 || got.Score > 1 || math.IsNaN(got.Score) || len(got.Checks) != 9 {
			t.Errorf("%v of %d checks", got.Score, len(got.Checks))
		}
		for _, c := range got.Checks {
			if c.Why == "" || len([]rune(c.Text)) > 160 {
				t.Errorf("%s: %q, %q", c.Name, c.Why, c.Text)
			}
		}
	})
}
