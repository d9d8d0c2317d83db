package kernel

// codeKernels are those this processor can run.
func codeKernels() []codeKernel {
	if !hasNEON {
		return nil
	}
	return []codeKernel{{"NEON", codesAndBits}}
}

func productKernels() []productKernel {
	if !hasNEON {
		return nil
	}
	return []productKernel{{"NEON", func(products []int32, q, rows []int16, at []uint32) {
		productsNEON(&products[0], &q[0], &rows[0], &at[0], len(at), len(q)/Stride)
	}}}
}
