package kernel

import "math/bits"

// codesScalar defines Codes.
func codesScalar(estimates []int32, codes, planes []uint64, least int32) (atLeast uint64) {
	for first := 0; first+GroupRows <= len(estimates); first += GroupRows {
		sums := (*[GroupRows]int32)(estimates[first:])
		clear(sums[:])
		for p := planes; len(p) >= Planes; p = p[Planes:] {
			p0, p1, p2, p3 := p[0], p[1], p[2], p[3]
			for i, c := range (*[GroupRows]uint64)(codes) {
				sums[i] += int32(2*(bits.OnesCount64(c&p0)+2*bits.OnesCount64(c&p1)+4*bits.OnesCount64(c&p2)+
					8*bits.OnesCount64(c&p3)) - 15*bits.OnesCount64(c))
			}
			codes = codes[GroupRows:]
		}
		for i, sum := range sums {
			if sum >= least {
				atLeast |= 1 << (first + i)
			}
		}
	}
	return atLeast
}

// productsScalar defines Products. The array pointers avoid a bounds check per
// component.
func productsScalar(products []int32, query, rows []int16, at []uint32) {
	for i, at := range at {
		q, row := query, rows[int(at)*len(query):(int(at)+1)*len(query)]
		var s0, s1, s2, s3 int32
		for len(q) >= 8 && len(row) >= 8 {
			x, y := (*[8]int16)(q), (*[8]int16)(row)
			s0 += int32(x[0])*int32(y[0]) + int32(x[4])*int32(y[4])
			s1 += int32(x[1])*int32(y[1]) + int32(x[5])*int32(y[5])
			s2 += int32(x[2])*int32(y[2]) + int32(x[6])*int32(y[6])
			s3 += int32(x[3])*int32(y[3]) + int32(x[7])*int32(y[7])
			q, row = q[8:], row[8:]
		}
		products[i] = s0 + s1 + s2 + s3
	}
}
