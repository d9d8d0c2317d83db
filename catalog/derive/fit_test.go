package derive_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog/derive"
)

func TestFit(t *testing.T) {
	size := func(n int) int { return n }
	for name, c := range map[string]struct {
		lists      [][]int
		kept       [][]int
		used, left int
	}{
		"all":                              {[][]int{{3, 2}, {4}}, [][]int{{3, 2}, {4}}, 9, 0},
		"the second of one after the rest": {[][]int{{5, 4}, {4, 1}}, [][]int{{5}, {4, 1}}, 10, 1},
		"what is too large is passed over": {[][]int{{11, 2}, {8}}, [][]int{{2}, {8}}, 10, 1},
		"an empty list":                    {[][]int{nil, {10}}, [][]int{nil, {10}}, 10, 0},
		"nothing":                          {nil, [][]int{}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			kept, used, left := derive.Fit(c.lists, 10, size)
			if diff := cmp.Diff(c.kept, kept); diff != "" || used != c.used || left != c.left {
				t.Errorf("used %d left %d, want %d %d; %s", used, left, c.used, c.left, diff)
			}
		})
	}
}

func TestOrderBy(t *testing.T) {
	got := []string{"a", "b", "c", "d"}
	derive.OrderBy(got, []string{"d", "b", "d", "x", "b"}, func(s, ranked string) bool { return s == ranked })
	if diff := cmp.Diff([]string{"d", "b", "a", "c"}, got); diff != "" {
		t.Error(diff)
	}
}
