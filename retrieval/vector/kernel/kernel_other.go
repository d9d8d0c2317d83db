//go:build !amd64 && !arm64

package kernel

func codesOf(estimates []int32, codes, planes []uint64, least int32) uint64 {
	return codesScalar(estimates, codes, planes, least)
}

func productsOf(products []int32, query, rows []int16, at []uint32) {
	productsScalar(products, query, rows, at)
}
