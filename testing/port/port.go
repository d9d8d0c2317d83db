// Package port keeps ports for servers that tests start, stop and start again.
package port

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// Keep returns an address of this machine whose port nobody else gets until the
// test ends. It refuses connections; listeners on it may come and go, but one may
// fail with EADDRINUSE for a moment after another is closed, while a process starts
// that the closed one was inherited by.
func Keep(tb testing.TB) string {
	tb.Helper()
	// A socket that is bound and does not listen. Those that net listens with reuse
	// addresses too.
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		tb.Fatal(err)
	}
	syscall.CloseOnExec(fd)
	tb.Cleanup(func() { _ = syscall.Close(fd) })
	if err := errors.Join(syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1),
		syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})); err != nil {
		tb.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		tb.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
}
