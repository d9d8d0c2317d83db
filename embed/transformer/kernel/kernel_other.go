//go:build !amd64 && !arm64

package kernel

func sumsOf(sums *[Rows * Columns]int32, rows []uint8, panel []byte, _ *[Columns]int32) {
	sumsScalar(sums, rows, panel)
}

func multiplyOf(c, a, b Block, depth, columns int) { multiplyScalar(c, a, b, depth, columns) }
