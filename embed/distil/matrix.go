package distil

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// matrix is a dense matrix in row-major order.
type matrix struct {
	columns int
	data    []float64
}

func newMatrix(rows, columns int) matrix {
	return matrix{columns, make([]float64, rows*columns)}
}

func (m matrix) rows() int { return len(m.data) / m.columns }

func (m matrix) row(i int) []float64 { return m.data[i*m.columns : (i+1)*m.columns] }

// dense returns the rows [from, to) for gonum, sharing their values.
func (m matrix) dense(from, to int) *mat.Dense {
	return mat.NewDense(to-from, m.columns, m.data[from*m.columns:to*m.columns])
}

// slab is the number of rows that dense products process at a time, so that
// they need no second matrix of the same size.
const slab = 512

// slabs calls fn for slabs of rows until all are done, fn fails or ctx ends.
func slabs(ctx context.Context, rows int, fn func(from, to int) error) error {
	for from := 0; from < rows; from += slab {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(from, min(from+slab, rows)); err != nil {
			return err
		}
	}
	return nil
}

// times adds row i of b times m to dst: the sum of its tokens' rows.
func (b *bags) times(m matrix, i int, dst []float64) {
	tokens, values := b.row(i)
	for j, t := range tokens {
		floats.AddScaled(dst, float64(values[j]), m.row(int(t)))
	}
}

var errEigen = errors.New("an eigendecomposition did not converge")

// eigen decomposes a symmetric matrix, of which it reads the upper triangle:
// values in ascending order, vectors as columns.
func eigen(a *mat.Dense) (values []float64, vectors *mat.Dense, err error) {
	n, _ := a.Dims()
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(n, a.RawMatrix().Data), true) {
		return nil, nil, errEigen
	}
	vectors = new(mat.Dense)
	e.VectorsTo(vectors)
	return e.Values(nil), vectors, nil
}

// floored raises values that are below a fraction of the greatest to it.
func floored(values []float64, part float64) []float64 {
	least := part * floats.Max(values)
	out := make([]float64, len(values))
	for i, x := range values {
		out[i] = max(x, least)
	}
	return out
}

// rms is the root of the mean square.
func (m matrix) rms() float64 {
	var square float64
	for i := range m.rows() {
		square += floats.Dot(m.row(i), m.row(i))
	}
	return math.Sqrt(square / float64(len(m.data)))
}
