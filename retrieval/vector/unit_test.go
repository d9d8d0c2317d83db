package vector_test

import (
	"math"
	"testing"

	"almanac/retrieval/vector"
)

func TestUnit(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []float32
		want []float32 // nil: an error
	}{
		{"a unit vector stays", []float32{0.6, -0.8}, []float32{0.6, -0.8}},
		{"zero stays", []float32{0, 0}, []float32{0, 0}},
		{"others are scaled", []float32{3, -4}, []float32{0.6, -0.8}},
		{"however short", []float32{3e-20, 4e-20}, []float32{0.6, 0.8}},
		{"however long", []float32{-3e30, 4e30}, []float32{-0.6, 0.8}},
		{"too few", []float32{1}, nil},
		{"too many", []float32{1, 0, 0}, nil},
		{"none", nil, nil},
		{"not a number", []float32{1, float32(math.NaN())}, nil},
		{"infinite", []float32{float32(math.Inf(-1)), 0}, nil},
	} {
		got, err := vector.Unit(c.in, 2)
		if (err != nil) != (c.want == nil) || len(got) != len(c.want) {
			t.Errorf("%s: %v, error %v, want %v", c.name, got, err, c.want)
			continue
		}
		for i := range got {
			if math.Abs(float64(got[i]-c.want[i])) > 1e-6 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}
