package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

var errNumber = errors.New("a vector has null in place of a number, which stands for NaN")

// Vector is a vector in a response. Unlike []float32 it does not accept null,
// which is how most servers write NaN.
type Vector []float32

// UnmarshalJSON reads an array of numbers.
func (v *Vector) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, (*[]float32)(v)); err != nil {
		return err
	}
	if bytes.Contains(raw, []byte("null")) {
		return errNumber
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
