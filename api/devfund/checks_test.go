package devfund

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// goodDraft passes every check.
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

// passed lists the checks that a draft passes.
func passed(checks []Check) string {
	var names []string
	for _, c := range checks {
		if c.Passed {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestCheckDraft(t *testing.T) {
	many := "# Plan, within a year\n"
	for i := range 99 {
		many += fmt.Sprintf("\n## Milestone %d: Sail to the buoy number %d and measure how deep the water is there\n",
			i+1, i)
	}
	for _, c := range []struct {
		name, draft, want string
		score             float64
	}{
		{"a good one", goodDraft, "milestones code sources scope budget", 1},
		{"nothing", "", "", 0},
		{"only headings",
			"# Plan\n## Milestones\n### Milestone 1\n### Milestone 2\n## Funding\n## Code\n## Sources\n", "", 0},
		{"words without content", "We have milestones, code, a repository, sources and a budget.", "", 0},
		{"one milestone twice", "## Milestone 1: Sail to the buoy and measure how deep it is\n## Milestone 2: Sail " +
			"to the buoy and measure how deep it is\n", "", 0},
		{"a hundred milestones", many, "milestones", 0.25},
		{"a time for the whole", "Delivery takes nine months.\n## Milestone 1: Lamp\n", "scope", 0.2},
		{"a time in some other line", "Rust eats a lamp in nine months.\n## Milestone 1: Lamp\n", "", 0},
		{"a date for half of the milestones", "## Milestone 1: Lamp\nBy 3 May 2031.\n## Milestone 2: Lens\n", "scope", 0.2},
		{"a date for a third of them", "## Milestone 1: Lamp\nBy 3 May 2031.\n## Milestone 2: Lens\n## Milestone 3: Oil\n",
			"", 0},
		{"code in a fence", "```go\nfunc main() {\n}\n```\n", "code", 0.2},
		{"a repository by its address", "The source code is at `forge.example/reefworks/pilot`.", "code", 0.2},
		{"a repository without a scheme", "Code at forge.example/reefworks/pilot, under Apache-2.0.", "code", 0.2},
		{"an amount in a sentence", "We ask for 3,000 HC to build a lamp.", "budget", 0.15},
		{"a range in a sentence", "We ask for 1,000 to 9,000 HC to build a lamp.", "", 0},
		{"a sentence that asks for no money", "We request review by 2 keepers.", "", 0},
		{"a slash is no address", "The prototype reads and/or writes its demo.", "", 0},
		{"an empty fence", "```\n```\n```\n\n", "", 0},
		{"milestones in a fence", "```\n## Milestone 1: Sail to the buoy and measure how deep it is\n## Milestone 2: " +
			"Sail to the reef and measure its depth\n```\n", "code", 0.2},
		{"one source ten times", strings.Repeat("See https://harbour.example/tides. ", 10), "", 0},
		{"two sources", "See https://harbour.example/tides and grant 7.", "sources", 0.2},
		{"sources below a span of code", "```make```\nSee https://harbour.example/tides and grant 7.", "sources", 0.2},
		{"sums that do not add up", strings.ReplaceAll(goodDraft, "6,000", "9,000"), "milestones code sources budget", 0.8},
		{"a milestone without a sum", strings.ReplaceAll(goodDraft, " 2,000 HC", ""),
			"milestones code sources scope budget", 1},
		{"sums by name and symbol", strings.ReplaceAll(goodDraft, "**Total funding request:** 6,000 HC",
			"**Total funding request:** 6,000 Harbour Coin (HC)"), "milestones code sources scope budget", 1},
		{"a range of sums", "Total funding request: 1,000 - 9,000 HC", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			score, checks := checkDraft(c.draft)
			if passed(checks) != c.want || score != c.score {
				t.Errorf("%.2f for %s\nwant %.2f for %s", score, passed(checks), c.score, c.want)
				for _, x := range checks {
					t.Logf("%s %v: %s | %s", x.Name, x.Passed, x.Why, x.Text)
				}
			}
		})
	}
}

func TestChecksSayWhatDecided(t *testing.T) {
	_, checks := checkDraft(goodDraft)
	says := map[string]Check{}
	weight := 0.0
	for _, c := range checks {
		says[c.Name] = c
		weight += c.Weight
	}
	if math.Abs(weight-1) > 1e-9 {
		t.Errorf("the weights add up to %v", weight)
	}
	for name, want := range map[string][2]string{
		"milestones": {"2 of 2 milestones say what is delivered",
			"Sensors: Six sensors on two tugs, readable over the harbour's interface. Eight weeks. 4,000 HC"},
		"scope":  {"2 of 2 milestones have a time, their amounts are 6000 HC together", ""},
		"budget": {"it requests 6000 HC", "6,000 HC"},
	} {
		if c := says[name]; c.Why != want[0] || c.Text != want[1] {
			t.Errorf("%s: %q, %q", name, c.Why, c.Text)
		}
	}
}

// BenchmarkChecksOfLongTexts reads drafts of 300 kB, which come from anybody.
func BenchmarkChecksOfLongTexts(b *testing.B) {
	for _, part := range []string{
		"a", "# ", "(", "**Milestone 1: ", "1 ", "http://x", "```\n", "Total: 1 HC\n", "CIP-1 ", "[[", "\xff",
		"### Milestone 1: a\n", "1.1.1 ",
	} {
		b.Run(fmt.Sprintf("%q", part), func(b *testing.B) {
			text := strings.Repeat(part, 300_000/len(part))
			for b.Loop() {
				checkDraft(text)
			}
		})
	}
}

func FuzzCheckDraft(f *testing.F) {
	for _, s := range []string{goodDraft, "", "```", "**Milestone 1:", "Total: $1", "\xff\xfe"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, draft string) {
		score, checks := checkDraft(draft)
		if score < 0 || score > 1 || math.IsNaN(score) || len(checks) != 5 {
			t.Errorf("%v of %d checks", score, len(checks))
		}
		for _, c := range checks {
			if c.Why == "" || len([]rune(c.Text)) > 160 {
				t.Errorf("%s: %q, %q", c.Name, c.Why, c.Text)
			}
		}
	})
}
