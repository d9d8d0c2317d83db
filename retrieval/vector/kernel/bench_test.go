package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// codeKernel and productKernel are implementations under test.
type codeKernel struct {
	name  string
	codes func(estimates []int32, codes, planes []uint64, least int32) uint64
}

type productKernel struct {
	name     string
	products func(products []int32, query, rows []int16, at []uint32)
}

// compare reports the time of a row by scalar code and by a kernel, measured
// in turns, and their ratio.
func compare(b *testing.B, rows int, scalar, kernel func()) {
	var times [2]time.Duration
	for b.Loop() {
		for i, run := range []func(){scalar, kernel} {
			start := time.Now()
			run()
			times[i] += time.Since(start)
		}
	}
	n := float64(b.N * rows)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(times[0])/n, "scalar-ns/row")
	b.ReportMetric(float64(times[1])/n, "kernel-ns/row")
	b.ReportMetric(float64(times[0])/float64(times[1]), "times-faster")
}

func BenchmarkCodes(b *testing.B) {
	const rows, words = 30_016, 4
	random := rand.New(rand.NewPCG(1, 2))
	codes, planes, estimates := make([]uint64, rows*words), make([]uint64, Planes*words), make([]int32, 64)
	for i := range codes {
		codes[i] = random.Uint64()
	}
	for i := range planes {
		planes[i] = random.Uint64()
	}
	scan := func(kernel func([]int32, []uint64, []uint64, int32) uint64) func() {
		return func() {
			for at := 0; at < rows; at += 64 {
				kernel(estimates, codes[at*words:(at+64)*words], planes, 1<<20)
			}
		}
	}
	for _, k := range codeKernels() {
		b.Run(fmt.Sprintf("rows=%d/bits=%d/%s", rows, 64*words, k.name), func(b *testing.B) {
			compare(b, rows, scan(codesScalar), scan(k.codes))
		})
	}
}

func BenchmarkProducts(b *testing.B) {
	const rows, dimensions, picked = 30_000, 256, 4800
	random := rand.New(rand.NewPCG(1, 2))
	vectors, query, products := make([]int16, rows*dimensions), make([]int16, dimensions), make([]int32, rows)
	for i := range vectors {
		vectors[i] = int16(random.IntN(4000) - 2000)
	}
	copy(query, vectors)
	all, some := make([]uint32, rows), make([]uint32, rows)
	for i, at := range random.Perm(rows) {
		all[i], some[i] = uint32(i), uint32(at)
	}
	for name, at := range map[string][]uint32{"all": all, "any": some[:picked]} {
		for _, k := range productKernels() {
			b.Run(fmt.Sprintf("rows=%d/dimensions=%d/%s=%d/%s", rows, dimensions, name, len(at), k.name),
				func(b *testing.B) {
					products := products[:len(at)]
					compare(b, len(at), func() { productsScalar(products, query, vectors, at) },
						func() { k.products(products, query, vectors, at) })
				})
		}
	}
}
