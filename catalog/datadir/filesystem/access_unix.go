//go:build unix

package filesystem

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Writable fails if this process may not write a file or directory. It does not open it:
// closing it would give up the locks that this process has on a catalog.
func Writable(path string) error {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
}

// GiveTo makes the owner of a directory the owner of a file.
func GiveTo(f *os.File, dir fs.FileInfo) error {
	owner, ok := dir.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}
