//go:build !amd64

package kernel

func floatsOf(out []float32, stride int, sums *[Rows * Columns]int32, columns *[Columns]int32,
	scales, bias *[Columns]float32, of *[Rows]float32, zeros *[Rows]int32,
) {
	floatsScalar(out, stride, sums, columns, scales, bias, of, zeros)
}

func rangeOf(x []float32) (lo, hi float32) { return rangeScalar(x) }

func quantiseOf(values []uint8, x []float32, inverse float32, zero int32) {
	quantiseScalar(values, x, inverse, zero)
}

func geluOf(x []float32) { geluScalar(x) }

func softmaxOf(x []float32) { softmaxScalar(x) }

func normaliseOf(x, y, gain, bias []float32) { normaliseScalar(x, y, gain, bias) }
