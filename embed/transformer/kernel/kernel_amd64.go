package kernel

import (
	"math"

	"golang.org/x/sys/cpu"
)

// All that has AVX2 has FMA; the two are switched off one by one.
var (
	hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	hasVNNI = hasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VNNI
)

// Fast reports whether this processor multiplies numbers of 8 bits with an
// instruction of its own: without one a transformer takes too long to be of use.
func Fast() bool { return hasAVX2 }

// eight holds a constant for each lane of a register.
type eight [8]float32

func eights(values ...float32) (all []eight) {
	for _, v := range values {
		all = append(all, eight{v, v, v, v, v, v, v, v})
	}
	return all
}

// The constants of geluAVX2 and softmaxAVX2 in the order in which they are used.
var (
	geluConstants = eights(append(append([]float32{1 / math.Sqrt2, erfBound, -erfBound}, erfAbove[:]...),
		append(erfBelow[:], 0.5)...)...)
	softmaxConstants = eights(append([]float32{least}, power[:]...)...)
)

func sumsOf(sums *[Rows * Columns]int32, rows []uint8, panel []byte, _ *[Columns]int32) {
	switch depth := len(panel) / Columns; {
	case hasVNNI:
		sumsVNNI(&sums[0], &rows[0], &panel[0], depth)
	case hasAVX2:
		sumsAVX2(&sums[0], &rows[0], &panel[0], depth)
	default:
		sumsScalar(sums, rows, panel)
	}
}

func floatsOf(out []float32, stride int, sums *[Rows * Columns]int32, columns *[Columns]int32,
	scales, bias *[Columns]float32, of *[Rows]float32, zeros *[Rows]int32,
) {
	if !hasAVX2 {
		floatsScalar(out, stride, sums, columns, scales, bias, of, zeros)
		return
	}
	floatsAVX2(&out[0], stride, &sums[0], &columns[0], &scales[0], &bias[0], &of[0], &zeros[0])
}

func rangeOf(x []float32) (lo, hi float32) {
	if !hasAVX2 {
		return rangeScalar(x)
	}
	return rangeAVX2(&x[0], len(x))
}

func quantiseOf(values []uint8, x []float32, inverse float32, zero int32) {
	if !hasAVX2 {
		quantiseScalar(values, x, inverse, zero)
		return
	}
	quantiseAVX2(&values[0], &x[0], len(x), inverse, zero)
}

func geluOf(x []float32) {
	if !hasAVX2 {
		geluScalar(x)
		return
	}
	geluAVX2(&x[0], len(x), &geluConstants[0])
}

func softmaxOf(x []float32) {
	if !hasAVX2 {
		softmaxScalar(x)
		return
	}
	softmaxAVX2(&x[0], len(x), &softmaxConstants[0])
}

func normaliseOf(x, y, gain, bias []float32) {
	if !hasAVX2 {
		normaliseScalar(x, y, gain, bias)
		return
	}
	normaliseAVX2(&x[0], &y[0], &gain[0], &bias[0], len(x), epsilon)
}

func multiplyOf(c, a, b Block, depth, columns int) {
	if !hasAVX2 {
		multiplyScalar(c, a, b, depth, columns)
		return
	}
	multiplyAVX2(&c.Data[0], &a.Data[0], &b.Data[0], c.Stride, a.Stride, b.Stride, depth, columns)
}

//go:noescape
func sumsVNNI(sums *int32, rows *uint8, panel *byte, depth int)

//go:noescape
func sumsAVX2(sums *int32, rows *uint8, panel *byte, depth int)

//go:noescape
func floatsAVX2(out *float32, stride int, sums, columns *int32, scales, bias, of *float32, zeros *int32)

//go:noescape
func rangeAVX2(x *float32, n int) (lo, hi float32)

//go:noescape
func quantiseAVX2(values *uint8, x *float32, n int, inverse float32, zero int32)

//go:noescape
func geluAVX2(x *float32, n int, constants *eight)

//go:noescape
func softmaxAVX2(x *float32, n int, constants *eight)

//go:noescape
func normaliseAVX2(x, y, gain, bias *float32, n int, epsilon float32)

//go:noescape
func multiplyAVX2(c, a, b *float32, cStride, aStride, bStride, depth, columns int)
