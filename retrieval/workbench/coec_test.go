package workbench_test

import (
	"math"
	"testing"

	"almanac/catalog"
	"almanac/retrieval/workbench"
)

// TestCOEC: anything at the first place is clicked at every second view, at the
// second at every tenth.
func TestCOEC(t *testing.T) {
	got := workbench.COEC([]catalog.ClickCount{
		{Query: "tides", Record: 1, Position: 1, Shown: 100, Clicked: 20},
		{Query: "tides", Record: 2, Position: 2, Shown: 100, Clicked: 18},
		{Query: "moon", Record: 1, Position: 1, Shown: 100, Clicked: 80},
		{Query: "moon", Record: 2, Position: 2, Shown: 60, Clicked: 0},
		{Query: "moon", Record: 3, Position: 2, Shown: 40, Clicked: 2},
		{Query: "moon", Record: 4, Position: 3, Shown: 9, Clicked: 9}, // seen too rarely at the second place
		{Query: "moon", Record: 4, Position: 2, Shown: 0, Clicked: 0},
		{Query: "tides", Record: 5, Position: 9, Shown: 50, Clicked: 0}, // nothing is expected there
	})
	want := []workbench.ClickGrade{
		{Query: "tides", Record: 1, Clicks: 20, Expected: 50, Grade: 0},
		{Query: "tides", Record: 2, Clicks: 18, Expected: 10, Grade: 2},
		{Query: "moon", Record: 1, Clicks: 80, Expected: 50, Grade: 2},
		{Query: "moon", Record: 2, Clicks: 0, Expected: 6, Grade: 0},
		{Query: "moon", Record: 3, Clicks: 2, Expected: 4, Grade: 1},
		{Query: "moon", Record: 4, Clicks: 9, Expected: 9, Grade: 2},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, g := range got {
		if math.Abs(g.Expected-want[i].Expected) > 1e-9 {
			t.Errorf("%d: expected clicks %v, want %v", i, g.Expected, want[i].Expected)
		}
		if g.Expected = want[i].Expected; g != want[i] {
			t.Errorf("%d: %+v, want %+v", i, g, want[i])
		}
	}
	if r := got[2].Ratio(); math.Abs(r-1.6) > 1e-9 {
		t.Errorf("80 clicks instead of 50 are %v", r)
	}
}
