//go:build amd64 || arm64

package corpus

import "unsafe"

// prefetch asks the processor for the cache line at an address, without waiting
// for it.
//
//go:noescape
func prefetch(p unsafe.Pointer)

// fetch prefetches the line of a byte of the document.
func fetch(raw string, at int) {
	if at < len(raw) {
		prefetch(unsafe.Add(unsafe.Pointer(unsafe.StringData(raw)), at))
	}
}
