package distil

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// flatten is the power of its variance that each direction is divided by:
// directions that every passage shares count less.
const flatten = 0.15

// projection returns the matrix that reduces the tokens' vectors w to fewer
// dimensions: V·Λ^−flatten of the greatest eigenvalues, VΛVᵀ being the covariance
// of the passages' unit vectors.
func projection(ctx context.Context, x *bags, w matrix, dimensions int) (*mat.Dense, error) {
	d := w.columns
	squares, sum, n := mat.NewDense(d, d, nil), make([]float64, d), 0.0
	passages := newMatrix(slab, d)
	err := slabs(ctx, x.rows(), func(from, to int) error {
		clear(passages.data)
		for i := from; i < to; i++ {
			v := passages.row(i - from)
			x.times(w, i, v)
			if length := math.Sqrt(floats.Dot(v, v)); length > 0 {
				floats.Scale(1/length, v)
				floats.Add(sum, v)
				n++
			}
		}
		var part mat.Dense
		rows := passages.dense(0, slab)
		part.Mul(rows.T(), rows)
		squares.Add(squares, &part)
		return nil
	})
	if err != nil {
		return nil, err
	}
	n = max(1, n)
	squares.Apply(func(i, j int, x float64) float64 { return x/n - sum[i]/n*sum[j]/n }, squares)
	values, vectors, err := eigen(squares)
	if err != nil {
		return nil, err
	}
	values = floored(values, eigenFloor)
	p := mat.NewDense(d, dimensions, nil)
	p.Apply(func(i, j int, _ float64) float64 {
		from := d - 1 - j // they ascend
		return vectors.At(i, from) * math.Pow(values[from], -flatten)
	}, p)
	return p, nil
}

// quantise projects the tokens' vectors, weighs each by the root of its idf and
// rounds it to int8 with one scale.
func quantise(ctx context.Context, w matrix, p *mat.Dense, idf []float32) (rows []int8, scale []float32, err error) {
	_, k := p.Dims()
	rows, scale = make([]int8, w.rows()*k), make([]float32, w.rows())
	err = slabs(ctx, w.rows(), func(from, to int) error {
		var part mat.Dense
		part.Mul(w.dense(from, to), p)
		for t := from; t < to; t++ {
			row := part.RawRowView(t - from)
			floats.Scale(math.Sqrt(float64(idf[t])), row)
			scale[t] = float32(floats.Norm(row, math.Inf(1)) / math.MaxInt8)
			if scale[t] == 0 {
				continue
			}
			for j, x := range row {
				rounded := math.Round(x / float64(scale[t]))
				rows[t*k+j] = int8(max(-math.MaxInt8, min(rounded, math.MaxInt8)))
			}
		}
		return nil
	})
	return rows, scale, err
}
