package kernel

import "golang.org/x/sys/cpu"

// Counting bits needs one extension of AVX-512 more than what every server with
// AVX-512 has, comparing registers of half the width another. Products wait for
// memory: AVX-512 makes them no faster than AVX2.
var (
	hasAVX2   = cpu.X86.HasAVX2
	hasAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VPOPCNTDQ
)

func codesOf(estimates []int32, codes, planes []uint64, least int32) uint64 {
	switch words, groups := len(planes)/Planes, len(estimates)/GroupRows; {
	case hasAVX512:
		return codesAVX512(&estimates[0], &codes[0], &planes[0], words, groups, least)
	case hasAVX2:
		return codesAVX2(&estimates[0], &codes[0], &planes[0], words, groups, least)
	}
	return codesScalar(estimates, codes, planes, least)
}

func productsOf(products []int32, query, rows []int16, at []uint32) {
	if !hasAVX2 {
		productsScalar(products, query, rows, at)
		return
	}
	productsAVX2(&products[0], &query[0], &rows[0], &at[0], len(at), len(query)/Stride)
}

//go:noescape
func codesAVX512(estimates *int32, codes, planes *uint64, words, groups int, least int32) uint64

//go:noescape
func codesAVX2(estimates *int32, codes, planes *uint64, words, groups int, least int32) uint64

//go:noescape
func productsAVX2(products *int32, query, rows *int16, at *uint32, n, strides int)
