package kernel

import "golang.org/x/sys/cpu"

// Floats are summed by what every processor has; products of 8-bit numbers need
// an extension of it.
var (
	hasNEON = cpu.ARM64.HasASIMD
	hasDot  = hasNEON && cpu.ARM64.HasASIMDDP
)

// Fast reports whether this processor multiplies numbers of 8 bits with an
// instruction of its own: without one a transformer takes too long to be of use.
func Fast() bool { return hasDot }

func sumsOf(sums *[Rows * Columns]int32, rows []uint8, panel []byte, columns *[Columns]int32) {
	if !hasDot {
		sumsScalar(sums, rows, panel)
		return
	}
	sumsDot(&sums[0], &rows[0], &panel[0], &columns[0], len(panel)/Columns)
}

func multiplyOf(c, a, b Block, depth, columns int) {
	if !hasNEON {
		multiplyScalar(c, a, b, depth, columns)
		return
	}
	multiplyNEON(&c.Data[0], &a.Data[0], &b.Data[0], c.Stride, a.Stride, b.Stride, depth, columns)
}

//go:noescape
func sumsDot(sums *int32, rows *uint8, panel *byte, columns *int32, depth int)

//go:noescape
func multiplyNEON(c, a, b *float32, cStride, aStride, bStride, depth, columns int)
