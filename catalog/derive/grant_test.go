package derive_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/derive"
)

const tug = `# Tug telemetry

Asks for money: 3 HC.

## Milestones

### Milestone 1: Sensors
Six sensors on two tugs. 4,000 HC

#### Acceptance
All of them report.

### Milestone 2: Report
` + "```\n## Milestone 9: not one\n```" + `
### Team

**Milestone 3: Upkeep** — 1,000 HC
One year.

**Milestone 3: Upkeep again**

## Funding

**Total funding request:** 5,000 HC
`

func TestMilestonesIn(t *testing.T) {
	step := func(number, title, text string) derive.GrantMilestone {
		return derive.GrantMilestone{Milestone: catalog.Milestone{Number: number, Title: title}, Text: text}
	}
	want := []derive.GrantMilestone{
		step("1", "Sensors", "Six sensors on two tugs. 4,000 HC\n\n#### Acceptance\nAll of them report."),
		step("2", "Report", "```\n## Milestone 9: not one\n```"),
		step("3", "Upkeep — 1,000 HC", "One year."),
	}
	if d := cmp.Diff(want, derive.MilestonesIn(tug)); d != "" {
		t.Error(d)
	}
	if got := derive.FundingIn(tug); got != "5,000 HC" {
		t.Errorf("funding %q", got)
	}
	want = []derive.GrantMilestone{
		step("1", "Hull", "````md\n```\n## Milestone 1: Shown\n```\n## Milestone 2: Shown\n````\nTwo planks."),
		step("2", "Mast", "```make mast```\n~~~\n```\n## Milestone 3: Shown\n~~~"),
		step("3", "Sail", "White."),
	}
	if d := cmp.Diff(want, derive.MilestonesIn("## Milestone 1: Hull\n````md\n```\n## Milestone 1: Shown\n```\n"+
		"## Milestone 2: Shown\n````\nTwo planks.\n## Milestone 2: Mast\n```make mast```\n~~~\n```\n"+
		"## Milestone 3: Shown\n~~~\n## Milestone 3: Sail\nWhite.")); d != "" {
		t.Errorf("fences in fences: %s", d)
	}
	shown := "````\n```\n## Milestone 1: Shown\n```\n````\n## Milestone 1: Hull\n"
	if got := derive.MilestonesIn(shown); len(got) != 1 || got[0].Title != "Hull" {
		t.Errorf("the first is %v, not one that code shows", got)
	}
	if got := derive.MilestonesIn("We have milestones."); got != nil {
		t.Errorf("a mention is %v", got)
	}
}
