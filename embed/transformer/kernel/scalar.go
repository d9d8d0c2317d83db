package kernel

import "math"

// sumsScalar defines the products of Rows rows with a panel.
func sumsScalar(sums *[Rows * Columns]int32, rows []uint8, panel []byte) {
	depth := len(panel) / Columns
	for r := range Rows {
		of, weights := (*[Columns]int32)(sums[r*Columns:]), panel
		clear(of[:])
		for row := rows[r*depth : (r+1)*depth]; len(row) >= step; row = row[step:] {
			a0, a1, a2, a3 := int32(row[0]), int32(row[1]), int32(row[2]), int32(row[3])
			w := (*[Columns * step]byte)(weights)
			for i := range of {
				of[i] += a0*int32(int8(w[step*i])) + a1*int32(int8(w[step*i+1])) + a2*int32(int8(w[step*i+2])) +
					a3*int32(int8(w[step*i+3]))
			}
			weights = weights[len(w):]
		}
	}
}

// floatsScalar defines what the products of Rows rows with a panel are worth.
func floatsScalar(out []float32, stride int, sums *[Rows * Columns]int32, columns *[Columns]int32,
	scales, bias *[Columns]float32, of *[Rows]float32, zeros *[Rows]int32,
) {
	for r := range Rows {
		row := out[r*stride:][:Columns]
		for i := range row {
			row[i] = float32(sums[r*Columns+i]-zeros[r]*columns[i])*(of[r]*scales[i]) + bias[i]
		}
	}
}

func rangeScalar(x []float32) (lo, hi float32) {
	lo, hi = x[0], x[0]
	for _, v := range x {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	return lo, hi
}

// ulp1 has the unit 1 in its last place: a float added to it is rounded to a
// whole number, to the even one of two that are as near.
const ulp1 = 3 << 22

// nearest is the whole number nearest to a float below 2²² in magnitude.
func nearest(x float32) int32 {
	return int32(math.Float32bits(x+ulp1)) - int32(math.Float32bits(ulp1))
}

func quantiseScalar(values []uint8, x []float32, inverse float32, zero int32) {
	for i, v := range x {
		values[i] = uint8(min(max(nearest(float32(v*inverse))+zero, 0), 255))
	}
}

// The error function on [-4, 4] as a quotient of polynomials in x², that of the
// numerator times x (as in the library Eigen): exact to 4e-7.
var (
	erfAbove = [...]float32{-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05,
		-7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02}
	erfBelow = [...]float32{-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, -7.37332916720468e-03,
		-1.42647390514189e-02}
)

const erfBound = 4

func geluScalar(x []float32) {
	for i, v := range x {
		t := min(max(v*(1/math.Sqrt2), -erfBound), erfBound)
		square := t * t
		above, below := erfAbove[0], erfBelow[0]
		for _, c := range erfAbove[1:] {
			above = above*square + c
		}
		for _, c := range erfBelow[1:] {
			below = below*square + c
		}
		v *= 0.5
		x[i] = v + v*(t*above/below)
	}
}

// power approximates 2ˣ on [-½, ½], from the highest power down (as in the
// library Cephes), and least is where 2ˣ stays above the smallest normal float.
var power = [...]float32{1.535336188319500e-4, 1.339887440266574e-3, 9.618437357674640e-3, 5.550332471162809e-2,
	2.402264791363012e-1, 6.931472028550421e-1, 1}

const least = -126

func softmaxScalar(x []float32) {
	_, hi := rangeScalar(x)
	var sum float32
	for i, v := range x {
		v = max(v-hi, least)
		whole := nearest(v)
		v -= float32(whole)
		y := power[0]
		for _, c := range power[1:] {
			y = y*v + c
		}
		y = math.Float32frombits(uint32(int32(math.Float32bits(y)) + whole<<23))
		x[i] = y
		sum += y
	}
	inverse := 1 / sum
	for i := range x {
		x[i] *= inverse
	}
}

func normaliseScalar(x, y, gain, bias []float32) {
	var sum, squares float32
	for i := range x {
		x[i] += y[i]
		sum += x[i]
	}
	mean := sum / float32(len(x))
	for i := range x {
		x[i] -= mean
		squares += x[i] * x[i]
	}
	inverse := float32(1 / math.Sqrt(float64(squares/float32(len(x))+epsilon)))
	for i := range x {
		x[i] = x[i]*inverse*gain[i] + bias[i]
	}
}

func multiplyScalar(c, a, b Block, depth, columns int) {
	for r := range Quad {
		out := c.Data[r*c.Stride:][:columns]
		clear(out)
		for k, v := range a.Data[r*a.Stride:][:depth] {
			for i, w := range b.Data[k*b.Stride:][:columns] {
				out[i] += v * w
			}
		}
	}
}
