package distil

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// eigenFloor is the least eigenvalue as a fraction of the greatest: below it is
// noise that whitening would amplify.
const eigenFloor = 1e-6

var errOneVector = errors.New("the teacher has the same vector for every token")

// centre subtracts the mean of the nonzero rows from them; the others stay zero.
func centre(m matrix, counts []bool) {
	mean := make([]float64, m.columns)
	n := 0.0
	for i, ok := range counts {
		if ok {
			floats.Add(mean, m.row(i))
			n++
		}
	}
	floats.Scale(1/max(1, n), mean)
	for i, ok := range counts {
		if ok {
			floats.Sub(m.row(i), mean)
		}
	}
}

// whiten turns the tokens' centred vectors into the prior: their ZCA whitening
// U·Λ^−½·Uᵀ (Bell and Sejnowski 1997), UΛUᵀ being their covariance, scaled back
// to the root mean square they had. It spreads the few directions in which a
// teacher's vectors of single words lie over all, and turns each vector as
// little as possible. Zero rows stay zero and do not count.
func whiten(ctx context.Context, m matrix, counted int) error {
	before := m.rms()
	if before == 0 {
		return errOneVector
	}
	covariance := mat.NewDense(m.columns, m.columns, nil)
	err := slabs(ctx, m.rows(), func(from, to int) error {
		var part mat.Dense
		rows := m.dense(from, to)
		part.Mul(rows.T(), rows)
		covariance.Add(covariance, &part)
		return nil
	})
	if err != nil {
		return err
	}
	covariance.Scale(1/float64(counted), covariance)
	values, u, err := eigen(covariance)
	if err != nil {
		return err
	}
	var scaled, zca mat.Dense
	roots := floored(values, eigenFloor)
	scaled.Apply(func(_, j int, x float64) float64 { return x / math.Sqrt(roots[j]) }, u)
	zca.Mul(&scaled, u.T())
	err = slabs(ctx, m.rows(), func(from, to int) error {
		var part mat.Dense
		rows := m.dense(from, to)
		part.Mul(rows, &zca)
		rows.Copy(&part)
		return nil
	})
	if err != nil {
		return err
	}
	floats.Scale(before/m.rms(), m.data)
	return nil
}
