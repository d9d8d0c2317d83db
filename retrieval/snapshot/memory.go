package snapshot

import (
	"encoding/binary"
	"slices"
	"unsafe"
)

// Sections are read and written as they are in memory, which is little-endian
// on nearly every machine; others swap.
var bigEndian = binary.NativeEndian.Uint16([]byte{1, 0}) != 1

// bytesOf returns the memory of the numbers.
func bytesOf[T Number](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}

// swap reverses the bytes of each number of a size.
func swap(b []byte, size int) {
	for number := range slices.Chunk(b, size) {
		slices.Reverse(number)
	}
}
