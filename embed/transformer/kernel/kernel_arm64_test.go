package kernel

// sumKernels are the implementations that this processor can run besides scalar Go.
func sumKernels() map[string]sumKernel {
	if !hasDot {
		return nil
	}
	return map[string]sumKernel{"dot product": func(sums *[Rows * Columns]int32, rows []uint8, m *Matrix) {
		sumsDot(&sums[0], &rows[0], &m.Packed[0], &m.Sums[0], m.In)
	}}
}
