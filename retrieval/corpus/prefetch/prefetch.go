//go:build amd64 || arm64

// Package prefetch asks the processor for memory before it is read.
package prefetch

import "unsafe"

// prefetch asks for the cache line at an address, without waiting for it.
//
//go:noescape
func prefetch(p unsafe.Pointer)

// Line prefetches the cache line of a byte of a text, if it has that byte.
func Line(raw string, at int) {
	if at < len(raw) {
		prefetch(unsafe.Add(unsafe.Pointer(unsafe.StringData(raw)), at))
	}
}
