//go:build !amd64 && !arm64

package kernel

// Fast reports whether this processor multiplies numbers of 8 bits with an
// instruction of its own: without one a transformer takes too long to be of use.
func Fast() bool { return false }

func sumsOf(sums *[Rows * Columns]int32, rows []uint8, panel []byte, _ *[Columns]int32) {
	sumsScalar(sums, rows, panel)
}

func multiplyOf(c, a, b Block, depth, columns int) { multiplyScalar(c, a, b, depth, columns) }
