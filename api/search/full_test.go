package search

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
			kept, used, left := fit(c.lists, 10, size)
			if diff := cmp.Diff(c.kept, kept); diff != "" || used != c.used || left != c.left {
				t.Errorf("used %d left %d, want %d %d; %s", used, left, c.used, c.left, diff)
			}
		})
	}
}

func TestOrderBy(t *testing.T) {
	got := []string{"a", "b", "c", "d"}
	orderBy(got, []string{"d", "b", "d", "x", "b"}, func(s, ranked string) bool { return s == ranked })
	if diff := cmp.Diff([]string{"d", "b", "a", "c"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBestBlock(t *testing.T) {
	log, plain, code := derive.CodeBlock{Code: "WARN sluice stuck"}, derive.CodeBlock{Code: "x"},
		derive.CodeBlock{Language: "ts", Code: "open(gate)"}
	for _, c := range []struct {
		topic  string
		blocks []derive.CodeBlock
		want   derive.CodeBlock
	}{
		{"the sluice", []derive.CodeBlock{plain, code, log}, log},
		{"Gate", []derive.CodeBlock{log, plain, code}, code},
		{"harbour", []derive.CodeBlock{plain, log, code}, code},
		{"harbour", []derive.CodeBlock{plain, log}, plain},
		{"harbour", nil, derive.CodeBlock{}},
	} {
		if got := bestBlock(c.blocks, c.topic); got != c.want {
			t.Errorf("%s: %q, want %q", c.topic, got, c.want)
		}
	}
}
