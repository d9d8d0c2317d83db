package kernel

import "golang.org/x/sys/cpu"

var hasNEON = cpu.ARM64.HasASIMD

func codesOf(estimates []int32, codes, planes []uint64, least int32) (atLeast uint64) {
	if !hasNEON {
		return codesScalar(estimates, codes, planes, least)
	}
	return codesAndBits(estimates, codes, planes, least)
}

// codesAndBits compares in Go: NEON has no instruction that gathers a bit of each lane.
func codesAndBits(estimates []int32, codes, planes []uint64, least int32) (atLeast uint64) {
	groups := len(estimates) / GroupRows
	codesNEON(&estimates[0], &codes[0], &planes[0], len(planes)/Planes, groups)
	for i, e := range estimates[:groups*GroupRows] {
		if e >= least {
			atLeast |= 1 << i
		}
	}
	return atLeast
}

func productsOf(products []int32, query, rows []int16, at []uint32) {
	if !hasNEON {
		productsScalar(products, query, rows, at)
		return
	}
	productsNEON(&products[0], &query[0], &rows[0], &at[0], len(at), len(query)/Stride)
}

//go:noescape
func codesNEON(estimates *int32, codes, planes *uint64, words, groups int)

//go:noescape
func productsNEON(products *int32, query, rows *int16, at *uint32, n, strides int)
