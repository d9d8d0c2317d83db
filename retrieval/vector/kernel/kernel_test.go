package kernel

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// wordsOf reads little-endian words; fewer bytes than a word are not read.
func wordsOf(raw []byte) []uint64 {
	words := make([]uint64, len(raw)/8)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return words
}

// componentsOf reads n components; those that are missing are 0.
func componentsOf(raw []byte, n int) []int16 {
	components := make([]int16, n)
	for i := range min(n, len(raw)/2) {
		components[i] = int16(binary.LittleEndian.Uint16(raw[2*i:]))
	}
	return components
}

func checkCodes(t *testing.T, codes, planes []uint64, groups int, least int32) {
	t.Helper()
	want := make([]int32, groups*GroupRows)
	wanted := codesScalar(want, codes, planes, least)
	for _, k := range codeKernels() {
		got := make([]int32, groups*GroupRows+1)
		got[len(got)-1] = 77 // must stay
		bits := k.codes(got[:len(got)-1], codes, planes, least)
		if bits != wanted || !slices.Equal(got[:len(got)-1], want) || got[len(got)-1] != 77 {
			t.Fatalf("%s: %d words, %d groups, least %d: bits %x, estimates %v, want %x, %v", k.name,
				len(planes)/Planes,
				groups, least, bits, got, wanted, want)
		}
	}
}

func checkProducts(t *testing.T, query, rows []int16, at []uint32) {
	t.Helper()
	n := len(at)
	want := make([]int32, n)
	productsScalar(want, query, rows, at)
	for _, k := range productKernels() {
		got := make([]int32, n+1)
		got[n] = 77 // must stay
		k.products(got[:n], query, rows, at)
		if !slices.Equal(got[:n], want) || got[n] != 77 {
			t.Fatalf("%s: %d components, rows %d: %v, want %v", k.name, len(query), at, got, want)
		}
	}
}

func TestKernelsAgreeWithScalarCode(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for words := 1; words <= 9; words++ {
		for groups := 1; groups <= 8; groups++ {
			codes, planes := make([]uint64, words*groups*GroupRows), make([]uint64, words*Planes)
			for _, s := range [][]uint64{codes, planes} {
				for i := range s {
					s[i] = random.Uint64()
				}
			}
			checkCodes(t, codes, planes, groups, int32(random.IntN(64))-32)
			for i := range codes { // every bit set: the greatest sums
				codes[i] = math.MaxUint64
			}
			for i := range planes {
				planes[i] = math.MaxUint64
			}
			checkCodes(t, codes, planes, groups, int32(15*64*words))
			checkCodes(t, codes, planes, groups, int32(15*64*words+1))
			clear(planes)
			checkCodes(t, codes, planes, groups, 0)
		}
	}
	for strides := 1; strides <= 13; strides++ {
		for rows := 1; rows <= 20; rows++ {
			query, vectors := make([]int16, strides*Stride), make([]int16, rows*strides*Stride)
			at := make([]uint32, rows)
			for i := range at {
				at[i] = uint32(random.IntN(rows))
			}
			for _, s := range [][]int16{query, vectors} {
				for i := range s {
					s[i] = int16(random.Uint32())
				}
			}
			checkProducts(t, query, vectors, at)
			for _, s := range [][]int16{query, vectors} { // the greatest products, which wrap
				for i := range s {
					s[i] = math.MinInt16
				}
			}
			checkProducts(t, query, vectors, at)
		}
	}
}

// The extremes of products wrap and come back: two unit vectors in units of
// 1/32767 have an exact product however it is summed.
func TestProductsOfUnitVectorsAreExact(t *testing.T) {
	query, row := make([]int16, 256), make([]int16, 256)
	query[7], row[7] = math.MaxInt16, -math.MaxInt16
	product := make([]int32, 1)
	if Products(product, query, row, []uint32{0}); product[0] != -math.MaxInt16*math.MaxInt16 {
		t.Errorf("%d, want %d", product[0], -math.MaxInt16*math.MaxInt16)
	}
	checkProducts(t, query, row, []uint32{0})
}

func TestKernelsRefuseWhatDoesNotFit(t *testing.T) {
	for name, call := range map[string]func(){
		"too few codes":     func() { Codes(make([]int32, 16), make([]uint64, 63), make([]uint64, 16), 0) },
		"too many rows":     func() { Codes(make([]int32, 72), make([]uint64, 999), make([]uint64, 4), 0) },
		"a row that is not": func() { Products(make([]int32, 1), make([]int16, 32), make([]int16, 64), []uint32{2}) },
		"too few products": func() {
			Products(make([]int32, 1), make([]int16, 32), make([]int16, 64),
				[]uint32{0, 1})
		},
		"a torn row":    func() { Products(make([]int32, 1), make([]int16, 31), make([]int16, 31), []uint32{0}) },
		"no components": func() { Products(make([]int32, 1), nil, nil, []uint32{0}) },
		"a shorter row": func() { Products(make([]int32, 1), make([]int16, 64), make([]int16, 32), []uint32{0}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			call()
		})
	}
	if Codes(nil, nil, nil, 0) != 0 {
		t.Error("bits of no rows")
	}
	Products(nil, make([]int16, 32), nil, nil)
}

func FuzzCodes(f *testing.F) {
	f.Add(bytes.Repeat([]byte("a code and its planes "), 20), uint8(1), int32(0))
	f.Add(make([]byte, 512), uint8(4), int32(-1))
	f.Fuzz(func(t *testing.T, raw []byte, size uint8, least int32) {
		words, input := 1+int(size%9), wordsOf(raw)
		planes := make([]uint64, Planes*words)
		input = input[copy(planes, input):]
		groups := min(8, 1+len(input)/(GroupRows*words))
		codes := make([]uint64, groups*GroupRows*words)
		copy(codes, input)
		checkCodes(t, codes, planes, groups, least)
	})
}

func FuzzProducts(f *testing.F) {
	f.Add(bytes.Repeat([]byte("a query and its rows "), 20), uint8(1), uint8(9))
	f.Add(make([]byte, 512), uint8(4), uint8(1))
	f.Fuzz(func(t *testing.T, raw []byte, size, picked uint8) {
		length := Stride * (1 + int(size%12))
		query := componentsOf(raw, length)
		raw = raw[min(len(raw), 2*length):]
		n := min(4, 1+len(raw)/(2*length))
		at := make([]uint32, 1+picked%24)
		for i := range at { // in an order that depends on the input
			at[i] = uint32(i*int(picked)) % uint32(n)
		}
		checkProducts(t, query, componentsOf(raw, n*length), at)
	})
}
