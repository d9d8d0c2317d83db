package distil_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"almanac/embed/distil"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

func random(r *rand.Rand, rows, columns int) [][]float64 {
	m := make([][]float64, rows)
	for i := range m {
		m[i] = make([]float64, columns)
		for j := range m[i] {
			m[i][j] = r.NormFloat64()
		}
	}
	return m
}

// TestWhitenedVectorsHaveTheCovarianceOfNoise holds that the covariance is a
// multiple of the identity, that zero rows stay, and that the scale does.
func TestWhitenedVectorsHaveTheCovarianceOfNoise(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		d := rapid.IntRange(2, 12).Draw(rt, "dimensions")
		n := rapid.SampledFrom([]int{150, 300, 530}).Draw(rt, "rows") // more than a slab, too
		mix, rows, counts := random(r, d, d), random(r, n, d), make([]bool, n)
		for i := range mix { // no direction is so faint that the floor would show
			for j := range mix[i] {
				mix[i][j] *= 0.3 / math.Sqrt(float64(d))
			}
			mix[i][i]++
		}
		var before float64
		for i := range rows {
			counts[i] = i%7 != 3
			mixed := make([]float64, d)
			for j := range mixed {
				for k := range mixed {
					mixed[j] += mix[k][j] * rows[i][k]
				}
				mixed[j] += 5 // a mean
			}
			if rows[i] = mixed; !counts[i] {
				clear(rows[i])
			}
		}
		counted, mean := 0.0, make([]float64, d)
		for i, ok := range counts {
			if ok {
				counted++
				for j, x := range rows[i] {
					mean[j] += x
				}
			}
		}
		for i, ok := range counts {
			for j, x := range rows[i] {
				if ok {
					before += (x - mean[j]/counted) * (x - mean[j]/counted)
				}
			}
		}
		white, err := distil.Whiten(t.Context(), rows, counts)
		if err != nil {
			rt.Fatal(err)
		}
		covariance := make([]float64, d*d)
		for i, row := range white {
			for j, x := range row {
				if !counts[i] && x != 0 {
					rt.Fatalf("row %d was zero", i)
				}
				for k, y := range row {
					covariance[j*d+k] += x * y / before * float64(d)
				}
			}
		}
		for j := range d {
			for k := range d {
				want := 0.0
				if j == k {
					want = 1
				}
				if math.Abs(covariance[j*d+k]-want) > 1e-6 {
					rt.Fatalf("covariance of %d and %d is %v, want %v", j, k, covariance[j*d+k], want)
				}
			}
		}
	})
}

// TestWhiteningTurnsNoMoreThanItMust holds what sets ZCA apart: its matrix is
// symmetric, so vectors that are white already stay where they are.
func TestWhiteningTurnsNoMoreThanItMust(t *testing.T) {
	var rows [][]float64
	for i := range 8 { // the corners of a cube
		rows = append(rows, []float64{float64(i&1)*2 - 1, float64(i >> 1 & 1 * 2), float64(i>>2&1)*2 - 1})
		rows[i][1] = float64(i>>1&1)*2 - 1
	}
	white, err := distil.Whiten(t.Context(), rows, slices.Repeat([]bool{true}, len(rows)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		for j, x := range rows[i] {
			if math.Abs(white[i][j]-x) > 1e-12 {
				t.Fatalf("%v became %v", rows[i], white[i])
			}
		}
	}
}

// TestWhiteningLeavesNoiseFaint holds the floor of eigenvalues: a direction
// of next to no variance is not made as strong as the others.
func TestWhiteningLeavesNoiseFaint(t *testing.T) {
	rows := random(rand.New(rand.NewPCG(1, 1)), 400, 3)
	for i := range rows {
		rows[i][2] *= 1e-5 // a variance of 1e-10, where the floor is at 1e-6
	}
	white, err := distil.Whiten(t.Context(), rows, slices.Repeat([]bool{true}, len(rows)))
	if err != nil {
		t.Fatal(err)
	}
	var variance [3]float64
	for _, row := range white {
		for j, x := range row {
			variance[j] += x * x
		}
	}
	if ratio := variance[2] / variance[0]; math.Abs(math.Log(ratio/1e-4)) > 0.3 ||
		math.Abs(variance[1]/variance[0]-1) > 1e-6 {
		t.Errorf("variances %v", variance)
	}
}

// TestRegressMatchesADirectSolve compares with z + xᵀ(xxᵀ+λI)⁻¹(t−xz) by
// Cholesky.
func TestRegressMatchesADirectSolve(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		passages, tokens := rapid.IntRange(1, 30).Draw(rt, "passages"), rapid.IntRange(1, 40).Draw(rt, "tokens")
		d := rapid.SampledFrom([]int{1, 5, 32, 35}).Draw(rt, "dimensions") // parts of blocks too
		lambda := rapid.SampledFrom([]float64{0.02, 0.5, 10}).Draw(rt, "lambda")
		x, z, target := random(r, passages, tokens), random(r, tokens, d), make([][]float32, passages)
		for i := range x {
			for j := range x[i] {
				if x[i][j] = float64(float32(x[i][j])); r.IntN(4) > 0 {
					x[i][j] = 0
				}
			}
			target[i] = make([]float32, d)
			for j := range target[i] {
				target[i][j] = float32(r.NormFloat64())
			}
		}
		if passages > 2 { // a passage that teaches nothing
			clear(x[1])
			clear(target[1])
		}
		var last, of int
		got, err := distil.Regress(t.Context(), x, z, target, lambda, 200, func(done, total int) {
			if done < last {
				rt.Errorf("progress %d after %d", done, last)
			}
			last, of = done, total
		})
		if err != nil {
			rt.Fatal(err)
		}
		if last != of || of != (d+31)/32*200 {
			rt.Errorf("progress ends at %d of %d", last, of)
		}
		want := direct(x, z, target, lambda)
		for i := range got {
			for j := range got[i] {
				if math.Abs(got[i][j]-want.At(i, j)) > 1e-5*(1+math.Abs(want.At(i, j))) {
					rt.Fatalf("row %d, column %d is %v, want %v", i, j, got[i][j], want.At(i, j))
				}
			}
		}
	})
}

func direct(x, z [][]float64, target [][]float32, lambda float64) *mat.Dense {
	n, v, d := len(x), len(z), len(z[0])
	X, Z, T := mat.NewDense(n, v, slices.Concat(x...)), mat.NewDense(v, d, slices.Concat(z...)), mat.NewDense(n, d, nil)
	for i := range target {
		for j, y := range target[i] {
			T.Set(i, j, float64(y))
		}
	}
	var gram, off, xz, a, w mat.Dense
	gram.Mul(X, X.T())
	for i := range n {
		gram.Set(i, i, gram.At(i, i)+lambda)
	}
	xz.Mul(X, Z)
	off.Sub(T, &xz)
	if err := a.Solve(&gram, &off); err != nil {
		panic(err)
	}
	w.Mul(X.T(), &a)
	w.Add(&w, Z)
	return &w
}

func TestRegressEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := rand.New(rand.NewPCG(1, 1))
	x, z := random(r, 20, 30), random(r, 30, 4)
	target := slices.Repeat([][]float32{{1, 2, 3, 4}}, 20)
	if _, err := distil.Regress(ctx, x, z, target, 0.02, 50, func(int, int) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestQuantisedRowsAreWithinHalfAStep holds int8 to its resolution and the
// weight of a row to the root of its idf.
func TestQuantisedRowsAreWithinHalfAStep(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		n, d := rapid.IntRange(1, 40).Draw(rt, "rows"), rapid.IntRange(1, 20).Draw(rt, "columns")
		rows, idf := random(r, n, d), make([]float32, n)
		for i := range idf {
			idf[i] = float32(r.ExpFloat64())
		}
		clear(rows[0])
		ints, scale, err := distil.Quantise(t.Context(), rows, idf)
		if err != nil {
			rt.Fatal(err)
		}
		for i, row := range rows {
			for j, x := range row {
				want := x * math.Sqrt(float64(idf[i]))
				if off := math.Abs(float64(scale[i])*float64(ints[i*d+j]) - want); off > 0.5001*float64(scale[i]) {
					rt.Fatalf("row %d, column %d is off by %v at a scale of %v", i, j, off, scale[i])
				}
			}
			if i > 0 && slices.Max(ints[i*d:(i+1)*d]) != 127 && slices.Min(ints[i*d:(i+1)*d]) != -127 {
				rt.Fatalf("row %d does not use its range: %v", i, ints[i*d:(i+1)*d])
			}
		}
	})
}

func TestCorrelation(t *testing.T) {
	for _, c := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3}, []float64{10, 20, 30}, 1},
		{[]float64{1, 2, 3}, []float64{3, 2, 1}, -1},
		{[]float64{1, 1, 1}, []float64{3, 2, 1}, 0},
		{[]float64{1, 2, 3, 4}, []float64{1, -1, -1, 1}, 0},
	} {
		if got := distil.Correlation(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestRotationFindsTheTurn turns points by a known orthogonal matrix, also
// into a space of more dimensions, and wants it back; and that what comes out
// is never more than a turn.
func TestRotationFindsTheTurn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		d := rapid.IntRange(1, 8).Draw(rt, "from")
		to := d + rapid.IntRange(0, 4).Draw(rt, "more")
		var qr mat.QR
		qr.Factorize(mat.NewDense(to, to, slices.Concat(random(r, to, to)...)))
		var q mat.Dense
		qr.QTo(&q)
		a, b := random(r, 50, d), make([][]float64, 50)
		for i := range a {
			b[i] = make([]float64, to)
			for j := range b[i] {
				for k := range d {
					b[i][j] += 3 * a[i][k] * q.At(k, j) // lengths do not matter
				}
			}
		}
		got, err := distil.Rotation(a, b)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range got {
			for j := range got[i] {
				if math.Abs(got[i][j]-q.At(i, j)) > 1e-8 {
					rt.Fatalf("row %d is %v, want %v", i, got[i], q.RawRowView(i))
				}
			}
		}
	})
}
