package kernel

// codeKernels are those this processor can run.
func codeKernels() (all []codeKernel) {
	if hasAVX2 {
		all = append(all, codeKernel{"AVX2", func(e []int32, c, p []uint64, least int32) uint64 {
			return codesAVX2(&e[0], &c[0], &p[0], len(p)/Planes, len(e)/GroupRows, least)
		}})
	}
	if hasAVX512 {
		all = append(all, codeKernel{"AVX-512", func(e []int32, c, p []uint64, least int32) uint64 {
			return codesAVX512(&e[0], &c[0], &p[0], len(p)/Planes, len(e)/GroupRows, least)
		}})
	}
	return all
}

func productKernels() []productKernel {
	if !hasAVX2 {
		return nil
	}
	return []productKernel{{"AVX2", func(products []int32, q, rows []int16, at []uint32) {
		productsAVX2(&products[0], &q[0], &rows[0], &at[0], len(at), len(q)/Stride)
	}}}
}
