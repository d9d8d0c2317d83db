package vector

import (
	"errors"
	"fmt"
	"math"
)

// Unit returns v scaled to length 1: v itself if it has that length or is zero,
// else a copy. Another number of dimensions or a component that is not finite
// is an error.
func Unit(v []float32, dimensions int) ([]float32, error) {
	if len(v) != dimensions {
		return nil, fmt.Errorf("vector of %d dimensions, want %d", len(v), dimensions)
	}
	var square float64
	for _, c := range v {
		square += float64(c) * float64(c)
	}
	switch {
	case math.IsNaN(square) || math.IsInf(square, 0):
		return nil, errors.New("vector is not finite")
	case square == 0 || math.Abs(square-1) < 1e-5:
		return v, nil
	}
	scaled := make([]float32, len(v))
	for i, c := range v {
		scaled[i] = float32(float64(c) / math.Sqrt(square))
	}
	return scaled, nil
}
