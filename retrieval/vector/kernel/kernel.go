// Package kernel holds the inner loops of vector search: estimates from sign
// codes, and products of 16-bit vectors. Both are sums of integers, so every
// implementation gives the same result to the bit: scalar Go, which is the
// definition, and assembly for AVX2, AVX-512 and NEON. The fastest that the
// processor has is chosen at start; GODEBUG=cpu.all=off chooses scalar Go.
//
// # Codes
//
// A code has words of 64 bits. Eight rows are a group: their first words, their
// second words and so on, so that a vector register holds the same word of
// several rows. The query is given in four bit planes, plane p of word w at
// [4w+p]: bit i of the planes is a component u of 0 to 15. The estimate of a
// row is Σ (2u − 15)·c over the bits c of its code (after Gao and Long, RaBitQ,
// SIGMOD 2024).
//
// # Products
//
// A row has a multiple of Stride components. A product is their sum modulo
// 2³²; it is exact if the true sum fits an int32, as it does for vectors whose
// lengths multiply to less than 2³¹ (Cauchy and Schwarz), whatever the sums in
// between.
package kernel

const (
	// GroupRows is the number of rows in a group of codes.
	GroupRows = 8
	// Planes is the number of bits of a query's component.
	Planes = 4
	// Stride divides the length of a row of components: 64 bytes.
	Stride = 32
)

// Codes puts the estimates of up to 64 consecutive rows, GroupRows for each
// group, into estimates, and returns a bit for each row whose estimate is at
// least the given one.
func Codes(estimates []int32, codes, planes []uint64, least int32) (atLeast uint64) {
	words, groups := len(planes)/Planes, len(estimates)/GroupRows
	if words == 0 || groups == 0 {
		return 0
	}
	if groups > 64/GroupRows || len(codes) < groups*words*GroupRows {
		panic("kernel: codes do not match estimates")
	}
	return codesOf(estimates, codes, planes, least)
}

// Products puts the products of the query with some of the rows, those of the
// given indexes, into products.
func Products(products []int32, query, rows []int16, at []uint32) {
	if len(query) == 0 || len(query)%Stride != 0 || len(products) != len(at) {
		panic("kernel: products do not match the query or its rows")
	}
	for _, i := range at {
		if (int(i)+1)*len(query) > len(rows) {
			panic("kernel: a row does not exist")
		}
	}
	if len(at) > 0 {
		productsOf(products, query, rows, at)
	}
}
