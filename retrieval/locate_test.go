package retrieval

import (
	"slices"
	"testing"
)

func TestLocatePrefers(t *testing.T) {
	for name, c := range map[string]struct {
		query, text string
		cosines     []float32
		want        int
	}{
		"what few passages say": {"crane lift barrels",
			"crane crane crane lift|crane barrels|crane lift|crane lift", nil, 1},
		"no words of the title":       {"harbour depth", "harbour harbour harbour|other|the depth is nine", nil, 2},
		"words near each other":       {"fee limit", "fee 1 2 3 4 5 6 7 8 9 limit|fee limit 1 2 3 4 5 6 7 8 9", nil, 1},
		"the nearer of equal words":   {"fee", "fee one|fee two", []float32{0.1, 0.6}, 1},
		"the only one there is":       {"fee", "x", nil, 0},
		"the first of equal passages": {"fee", "fee|fee", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			table, docs := corpusOf(t, [][2]string{{"harbour", c.text}, {"other", "some other words of a crane"}})
			ordinals := make([]int, docs[0].Len())
			for i := range ordinals {
				ordinals[i] = i
			}
			scores := scorerOf(table, c.query, "").Locate(docs[0], ordinals, c.cosines)
			if got := slices.Index(scores, slices.Max(scores)); got != c.want {
				t.Errorf("passage %d of %v, want %d", got, scores, c.want)
			}
		})
	}
}
