// Package rlimit bounds the memory of another process.
package rlimit

import "golang.org/x/sys/unix"

// Memory bounds what a process that was just started, and those that it starts, may allocate, in bytes. Packs, which are
// mapped, do not count.
func Memory(process int, bytes uint64) {
	limit := unix.Rlimit{Cur: bytes, Max: bytes}
	_ = unix.Prlimit(process, unix.RLIMIT_DATA, &limit, nil) // it may have ended
}
