package kb

import (
	"testing"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		text, topic string
		want        float64
	}{
		{"Notice before a mooring ends", "notice before moorings end", 1},
		{"Notice before a mooring ends", "the notice of lighthouses", 0.5},
		{"LIP-0012: Raise the lantern", "lip-0012", 1},
		{"Raise the lantern", "the", 0},
		{"", "lantern", 0},
		{"lantern", "", 0},
	} {
		if got := Covers(c.text, c.topic); got != c.want {
			t.Errorf("%q covers %q by %v, want %v", c.text, c.topic, got, c.want)
		}
	}
}
