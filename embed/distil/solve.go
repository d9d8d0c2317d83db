package distil

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"
)

// block is the number of columns that are solved for together: enough that a
// walk over the sparse matrix pays, few enough that what it touches stays in
// cache. It is the same on every machine, so the result does not depend on the
// number of processors.
const block = 32

// converged is the fraction of its first residual at which a column is solved.
const converged = 1e-9

// regress moves the tokens' vectors z so that passages, rows of x, come near to
// the teacher's vectors, rows of target:
//
//	z + xᵀ(xxᵀ + λI)⁻¹(target − xz)
//
// which is ridge regression with the prior z instead of zero. The inverse is
// applied by conjugate gradients (Hestenes and Stiefel 1952), at most steps of
// them, to all columns of a block at once, each with its own step lengths.
// progress is called with the number of steps done over all blocks.
func regress(ctx context.Context, x *bags, z matrix, target []float32, lambda float64, steps int,
	progress func(done, total int)) error {
	blocks := (z.columns + block - 1) / block
	var mu sync.Mutex // guards done, and orders calls of progress
	done := 0
	took := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		done += n
		progress(done, blocks*steps)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for b := range blocks {
		g.Go(func() error {
			s := newSystem(x, z, target, b*block, min((b+1)*block, z.columns), lambda)
			left := steps
			for ; left > 0 && s.step(); left-- {
				if err := ctx.Err(); err != nil {
					return err
				}
				took(1)
			}
			took(left)
			s.addTo(z)
			return nil
		})
	}
	return g.Wait()
}

// system is (xxᵀ + λI)·a = b for the columns [from, to) of b.
type system struct {
	x        *bags
	from, to int
	lambda   float64

	solution  matrix // a so far
	residual  matrix // b − (xxᵀ + λI)·a
	direction matrix
	image     matrix // (xxᵀ + λI)·direction
	tokens    matrix // xᵀ·direction

	square []float64 // of each column's residual
	enough []float64 // residual at which it is solved
}

func newSystem(x *bags, z matrix, target []float32, from, to int, lambda float64) *system {
	n, w := x.rows(), to-from
	s := &system{x: x, from: from, to: to, lambda: lambda, solution: newMatrix(n, w), residual: newMatrix(n, w),
		direction: newMatrix(n, w), image: newMatrix(n, w), tokens: newMatrix(z.rows(), w), square: make([]float64, w),
		enough: make([]float64, w)}
	part := s.tokens // z's columns
	for t := range part.rows() {
		copy(part.row(t), z.row(t)[from:to])
	}
	for i := range n {
		r := s.residual.row(i)
		x.times(part, i, r)
		for j := range r {
			r[j] = float64(target[i*z.columns+from+j]) - r[j]
		}
	}
	copy(s.direction.data, s.residual.data)
	products(s.square, s.residual, s.residual)
	for j, sq := range s.square {
		s.enough[j] = sq * converged * converged
	}
	return s
}

// step takes one step and reports whether any column was still open.
func (s *system) step() bool {
	w := s.to - s.from
	s.apply()
	curvature, length := make([]float64, w), make([]float64, w)
	products(curvature, s.direction, s.image)
	open := false
	for j := range w {
		if s.square[j] > s.enough[j] && curvature[j] > 0 {
			length[j] = s.square[j] / curvature[j]
			open = true
		}
	}
	if !open {
		return false
	}
	for i := range s.x.rows() {
		a, r, p, q := s.solution.row(i), s.residual.row(i), s.direction.row(i), s.image.row(i)
		for j, l := range length {
			a[j] += l * p[j]
			r[j] -= l * q[j]
		}
	}
	square, ratio := make([]float64, w), make([]float64, w)
	products(square, s.residual, s.residual)
	for j := range w {
		if length[j] > 0 {
			ratio[j] = square[j] / s.square[j]
		}
	}
	for i := range s.x.rows() {
		r, p := s.residual.row(i), s.direction.row(i)
		for j, b := range ratio {
			p[j] = r[j] + b*p[j]
		}
	}
	s.square = square
	return true
}

// apply computes the image of the direction.
func (s *system) apply() {
	s.transposed(s.direction)
	for i := range s.x.rows() {
		q := s.image.row(i)
		floats.ScaleTo(q, s.lambda, s.direction.row(i))
		s.x.times(s.tokens, i, q)
	}
}

// transposed sets tokens to xᵀ·m.
func (s *system) transposed(m matrix) {
	clear(s.tokens.data)
	for i := range s.x.rows() {
		tokens, values := s.x.row(i)
		row := m.row(i)
		for j, t := range tokens {
			floats.AddScaled(s.tokens.row(int(t)), float64(values[j]), row)
		}
	}
}

// addTo adds xᵀ·a to the columns of z. Other systems may do the same
// concurrently with their columns.
func (s *system) addTo(z matrix) {
	s.transposed(s.solution)
	for t := range z.rows() {
		floats.Add(z.row(t)[s.from:s.to], s.tokens.row(t))
	}
}

// products sets dst to the dot products of the columns of a and b.
func products(dst []float64, a, b matrix) {
	clear(dst)
	for i := range a.rows() {
		x, y := a.row(i), b.row(i)
		for j := range dst {
			dst[j] += x[j] * y[j]
		}
	}
}
