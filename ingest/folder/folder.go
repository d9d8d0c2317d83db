// Package folder reads a directory of this machine that others may write to, and
// files up to a limit. Only regular files below a directory can be opened: no link
// leads out of it, and no pipe or device blocks who reads it. It imports no other
// package of this module.
package folder

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ErrNotRegular: the name is that of a pipe, a socket or a device.
var ErrNotRegular = errors.New("not a regular file")

// FS is the file system of a directory. It holds nothing open.
type FS struct{ dir, name string }

var _ fs.FS = FS{}

// New returns the file system of a directory, which need not exist.
func New(dir string) FS { return FS{dir: dir} }

// Named is New with the directory's own name before the names of its files.
func Named(dir string) FS { return FS{dir, filepath.Base(dir)} }

// Dir returns the directory.
func (f FS) Dir() string { return f.dir }

// Open implements fs.FS. A file is an *os.File. A name that leads out of the
// directory is an error of package os.
func (f FS) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if f.name != "" {
		below, ok := strings.CutPrefix(name+"/", f.name+"/")
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		name = path.Clean(below)
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name) // opening a pipe would wait for its writer
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, err
	}
	return root.Open(name)
}
