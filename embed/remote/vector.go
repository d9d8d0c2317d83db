package remote

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"almanac/text/prose"
)

var (
	errShape  = errors.New("unexpected shape")
	errNumber = errors.New("not a number")
)

// Vector is a vector in a response. Unlike []float32 it does not accept null,
// which is how most servers write NaN.
type Vector []float32

// UnmarshalJSON reads an array of numbers.
func (v *Vector) UnmarshalJSON(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '[' {
		return fmt.Errorf("%w: a vector is not an array of numbers", errShape)
	}
	raw = bytes.TrimSpace(raw[1 : len(raw)-1])
	*v = make(Vector, 0, 1+bytes.Count(raw, []byte(",")))
	if len(raw) == 0 {
		return nil
	}
	for part := range bytes.SplitSeq(raw, []byte(",")) {
		part = bytes.TrimSpace(part)
		if string(part) == "null" {
			return fmt.Errorf("component %d of a vector is null, which stands for NaN: %w", len(*v), errNumber)
		}
		x, err := strconv.ParseFloat(string(part), 32)
		if err != nil {
			return fmt.Errorf("%w: component %d of a vector is %s", errShape, len(*v), prose.FirstBytes(string(part), 40))
		}
		*v = append(*v, float32(x))
	}
	return nil
}

// normalise brings a vector to length 1; the zero vector stays. Infinite
// components and NaN are errors.
func normalise(v []float32) error {
	sum := 0.0
	for i, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return fmt.Errorf("component %d of a vector is %v", i, x)
		}
		sum += float64(x) * float64(x)
	}
	if sum == 0 {
		return nil
	}
	length := math.Sqrt(sum)
	for i, x := range v {
		v[i] = float32(float64(x) / length)
	}
	return nil
}
