package kernel

// sumKernels are the implementations that this processor can run besides scalar Go.
func sumKernels() map[string]sumKernel {
	all := map[string]sumKernel{}
	if hasAVX2 {
		all["AVX2"] = func(sums *[Rows * Columns]int32, rows []uint8, m *Matrix) {
			sumsAVX2(&sums[0], &rows[0], &m.Packed[0], m.In)
		}
	}
	if hasVNNI {
		all["AVX-512 VNNI"] = func(sums *[Rows * Columns]int32, rows []uint8, m *Matrix) {
			sumsVNNI(&sums[0], &rows[0], &m.Packed[0], m.In)
		}
	}
	return all
}
