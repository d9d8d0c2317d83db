package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// matrixOf makes a matrix of weights that at gives.
func matrixOf(in, out int, at func(i, o int) int8) *Matrix {
	m := &Matrix{In: in, Out: out, Packed: make([]byte, in*out), Sums: make([]int32, out),
		Scales: make([]float32, out), Bias: make([]float32, out)}
	for o := range out {
		m.Scales[o], m.Bias[o] = 1/float32(o+1), float32(o)
		for i := range in {
			w := at(i, o)
			m.Packed[m.At(i, o)] = byte(w)
			m.Sums[o] += int32(w)
		}
	}
	return m
}

// sumKernel puts the products of Rows rows with the first panel into sums.
type sumKernel func(sums *[Rows * Columns]int32, rows []uint8, m *Matrix)

// checkSums compares scalar code with sums that are taken one by one, and the
// other implementations with it.
func checkSums(t *testing.T, m *Matrix, rows []uint8) {
	t.Helper()
	var want, got [Rows * Columns]int32
	for r := range Rows {
		for o := range Columns {
			for i := range m.In {
				want[r*Columns+o] += int32(rows[r*m.In+i]) * int32(int8(m.Packed[m.At(i, o)]))
			}
		}
	}
	if sumsScalar(&got, rows, m.Packed[:m.In*Columns]); got != want {
		t.Fatalf("scalar: %d deep: %v, want %v", m.In, got, want)
	}
	for name, run := range sumKernels() {
		clear(got[:])
		if run(&got, rows, m); got != want {
			t.Fatalf("%s: %d deep: %v, want %v", name, m.In, got, want)
		}
	}
}

func TestKernelsAgreeOnProducts(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		in := Lane * (1 + n%20)
		rows := make([]uint8, Rows*in)
		for i := range rows {
			rows[i] = uint8(random.Uint32())
		}
		checkSums(t, matrixOf(in, Columns, func(_, _ int) int8 { return int8(random.Uint32()) }), rows)
	}
	// The greatest products at the model's greatest depth: sums of two of them do not fit 16 bits.
	rows := bytes.Repeat([]byte{255}, Rows*1536)
	for _, w := range []int8{127, -127, -128} {
		checkSums(t, matrixOf(1536, Columns, func(_, _ int) int8 { return w }), rows)
	}
}

func FuzzSums(f *testing.F) {
	f.Add(bytes.Repeat([]byte("rows and weights "), 200), uint8(1))
	f.Add(bytes.Repeat([]byte{0xff, 0x80}, 4000), uint8(3))
	f.Fuzz(func(t *testing.T, raw []byte, lanes uint8) {
		in := Lane * (1 + int(lanes%8))
		rows := make([]uint8, Rows*in)
		raw = raw[copy(rows, raw):]
		checkSums(t, matrixOf(in, Columns, func(i, o int) int8 {
			if len(raw) == 0 {
				return int8(i * o)
			}
			return int8(raw[(i*Columns+o)%len(raw)])
		}), rows)
	})
}

// A product of rows and a matrix is what their floats give, but for the steps
// of the rows' numbers.
func TestMultiplyAMatrix(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const rows = 3 * Rows
	m := matrixOf(3*Lane, 2*Columns, func(_, _ int) int8 { return int8(random.Uint32()) })
	x := floats(rows*m.In, 2)
	numbers := Numbers{make([]uint8, len(x)), make([]float32, rows), make([]int32, rows)}
	numbers.Quantise(x)
	out := make([]float32, rows*m.Out)
	m.Multiply(out, numbers)
	near(t, "product", out, func(at int) float64 {
		r, o := at/m.Out, at%m.Out
		sum := float64(m.Bias[o])
		for i := range m.In {
			sum += float64(numbers.Scales[r]) * float64(int32(numbers.Values[r*m.In+i])-numbers.Zeros[r]) *
				float64(m.Scales[o]) * float64(int8(m.Packed[m.At(i, o)]))
		}
		return sum
	}, 1e-3)
}

// floats are rows of random numbers of that deviation.
func floats(n int, deviation float64) []float32 {
	random := rand.New(rand.NewPCG(uint64(n), 3))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(random.NormFloat64() * deviation)
	}
	return x
}

func near(t *testing.T, what string, got []float32, want func(i int) float64, tolerance float64) {
	t.Helper()
	for i, x := range got {
		if d := math.Abs(float64(x) - want(i)); !(d <= tolerance) {
			t.Fatalf("%s: number %d of %d is %v, want %v", what, i, len(got), x, want(i))
		}
	}
}

// lengths are those of rows under test.
var lengths = []int{Lane, 3 * Lane, 384, 1536}

// both runs a test with scalar code and with what is chosen for this processor.
func both[F any](t *testing.T, scalar, chosen F, test func(t *testing.T, f F, n int)) {
	for name, f := range map[string]F{"scalar": scalar, "chosen": chosen} {
		for _, n := range lengths {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) { test(t, f, n) })
		}
	}
}

func TestGelu(t *testing.T) {
	both(t, geluScalar, geluOf, func(t *testing.T, gelu func([]float32), n int) {
		x := floats(n, 3)
		copy(x, []float32{0, 1, -1, 30, -30, 6, -6, 1e-20})
		before := slices.Clone(x)
		gelu(x)
		near(t, "gelu", x, func(i int) float64 {
			v := float64(before[i])
			return v * 0.5 * (1 + math.Erf(v/math.Sqrt2))
		}, 2e-6)
	})
}

func TestSoftmax(t *testing.T) {
	both(t, softmaxScalar, softmaxOf, func(t *testing.T, softmax func([]float32), n int) {
		for _, shift := range []float32{0, 1e4, -1e4} {
			x := floats(n, 8)
			for i := range x {
				x[i] += shift
			}
			x[n-1] = -math.MaxFloat32 // what is masked
			before := slices.Clone(x)
			softmax(x)
			hi, sum := slices.Max(before), 0.0
			for _, v := range before {
				sum += math.Exp2(float64(v - hi))
			}
			near(t, "softmax", x, func(i int) float64 { return math.Exp2(float64(before[i]-hi)) / sum }, 2e-6)
		}
	})
}

func TestAddAndNormalise(t *testing.T) {
	both(t, normaliseScalar, normaliseOf, func(t *testing.T, normalise func(x, y, gain, bias []float32), n int) {
		x, y, gain, bias := floats(n, 2), floats(n, 1), floats(n, 3), floats(n, .5)
		y[1] = 40 // an outlier, as the model has
		sum := make([]float64, n)
		var mean, squares float64
		for i := range sum {
			sum[i] = float64(x[i]) + float64(y[i])
			mean += sum[i] / float64(n)
		}
		for _, v := range sum {
			squares += (v - mean) * (v - mean) / float64(n)
		}
		normalise(x, y, gain, bias)
		near(t, "normalised", x, func(i int) float64 {
			return (sum[i]-mean)/math.Sqrt(squares)*float64(gain[i]) + float64(bias[i])
		}, 3e-5)
	})
	x := make([]float32, Lane) // equal numbers have no deviation
	AddAndNormalise(x, x, x, x)
	near(t, "zero", x, func(int) float64 { return 0 }, 0)
}

func TestQuantise(t *testing.T) {
	both(t, quantiseScalar, quantiseOf, func(t *testing.T, quantise func([]uint8, []float32, float32, int32), n int) {
		x := floats(n, 2)
		copy(x, []float32{.5, 1.5, 2.5, -.5, -300, 300}) // halves go to the even number, the rest to the end
		got := make([]uint8, n)
		quantise(got, x, 1, 128)
		for i, v := range x {
			want := min(max(math.RoundToEven(float64(v))+128, 0), 255)
			if float64(got[i]) != want {
				t.Fatalf("%v is %d, want %v", v, got[i], want)
			}
		}
	})
	const rows = 4
	for _, n := range lengths {
		x := floats(rows*n, 1)
		for i := range n {
			x[i] += 5
			x[n+i] -= 5
			x[2*n+i] = 0
		}
		numbers := Numbers{bytes.Repeat([]byte{9}, len(x)), make([]float32, rows), make([]int32, rows)}
		numbers.Quantise(x)
		for i, v := range x {
			scale := float64(numbers.Scales[i/n])
			got := scale * float64(int32(numbers.Values[i])-numbers.Zeros[i/n])
			if !(math.Abs(got-float64(v)) <= scale*.501) {
				t.Fatalf("row %d, number %d is %v, want %v in steps of %v", i/n, i%n, got, v, scale)
			}
		}
	}
}

func TestFloats(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 7))
	const stride = 2 * Columns
	var sums [Rows * Columns]int32
	var columns [Columns]int32
	var zeros [Rows]int32
	for i := range sums {
		sums[i] = random.Int32N(1e7) - 5e6
	}
	for i := range columns {
		columns[i] = random.Int32N(4e4) - 2e4
	}
	for i := range zeros {
		zeros[i] = random.Int32N(256)
	}
	scales, bias, of := (*[Columns]float32)(floats(Columns, 1)), (*[Columns]float32)(floats(Columns, 5)),
		(*[Rows]float32)(floats(Rows, 1e-6))
	for name, run := range map[string]func(out []float32){
		"scalar": func(out []float32) { floatsScalar(out, stride, &sums, &columns, scales, bias, of, &zeros) },
		"chosen": func(out []float32) { floatsOf(out, stride, &sums, &columns, scales, bias, of, &zeros) },
	} {
		out := slices.Repeat([]float32{77}, Rows*stride)
		run(out)
		near(t, name, out, func(at int) float64 {
			r, o := at/stride, at%stride
			if o >= Columns {
				return 77
			}
			return float64(sums[r*Columns+o]-zeros[r]*columns[o])*float64(of[r])*float64(scales[o]) + float64(bias[o])
		}, 2e-5)
	}
}

func TestMultiply(t *testing.T) {
	for name, multiply := range map[string]func(c, a, b Block, depth, columns int){
		"scalar": multiplyScalar, "chosen": multiplyOf} {
		for _, depth := range []int{1, 2, 32, 77} {
			for _, columns := range []int{Lane, 3 * Lane} {
				t.Run(fmt.Sprintf("%s/%d×%d", name, depth, columns), func(t *testing.T) {
					a, b := Block{floats(Quad*100, 1), 100}, Block{floats(depth*120, 1), 120}
					c := Block{slices.Repeat([]float32{77}, Quad*110), 110}
					multiply(c, a, b, depth, columns)
					near(t, "product", c.Data, func(i int) float64 {
						row, column := i/c.Stride, i%c.Stride
						if column >= columns {
							return 77
						}
						var sum float64
						for k := range depth {
							sum += float64(a.Data[row*a.Stride+k]) * float64(b.Data[k*b.Stride+column])
						}
						return sum
					}, 2e-5)
				})
			}
		}
	}
}

// Whoever calls with rows that do not fit must not have memory overwritten.
func TestKernelsRefuseWhatDoesNotFit(t *testing.T) {
	m := matrixOf(Lane, Columns, func(_, _ int) int8 { return 1 })
	torn := *m
	torn.Packed = torn.Packed[1:]
	numbers := func(rows, values int) Numbers {
		return Numbers{make([]uint8, values), make([]float32, rows), make([]int32, rows)}
	}
	x, long := make([]float32, Lane), make([]float32, 2*Lane)
	for name, call := range map[string]func(){
		"no rows":             func() { m.Multiply(nil, Numbers{}) },
		"seven rows":          func() { m.Multiply(make([]float32, 7*Columns), numbers(7, 7*Lane)) },
		"too few sums":        func() { m.Multiply(make([]float32, 8*Columns-1), numbers(8, 8*Lane)) },
		"a torn row":          func() { m.Multiply(make([]float32, 8*Columns), numbers(8, 8*Lane-1)) },
		"a torn matrix":       func() { torn.Multiply(make([]float32, 8*Columns), numbers(8, 8*Lane)) },
		"numbers of no row":   func() { Numbers{}.Quantise(nil) },
		"too few numbers":     func() { numbers(1, Lane-1).Quantise(x) },
		"three rows in two":   func() { numbers(3, 2*Lane).Quantise(long) },
		"half a lane":         func() { Gelu(x[:Lane/2]) },
		"softmax of nothing":  func() { Softmax(nil) },
		"rows of two lengths": func() { AddAndNormalise(x, long, x, x) },
		"a short gain":        func() { AddAndNormalise(long, long, x, long) },
		"a short block":       func() { Multiply(Block{long, Lane}, Block{long, 1}, Block{long, Lane}, 1, Lane) },
		"half a lane of columns": func() {
			Multiply(Block{long, 16}, Block{long, 1}, Block{long, Lane}, 1, Lane/2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
}
