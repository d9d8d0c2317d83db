package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// replaceFile writes a file under a temporary name and renames it when it is
// complete, so that readers never see a part. It keeps the permissions of one that is
// there.
func replaceFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	mode := os.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := errors.Join(write(f), f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// reason returns an error of the file system without operation and path, which
// the caller adds.
func reason(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// stem returns the name of a profile, or of its file without directory and
// extension.
func stem(nameOrFile string) string {
	base := filepath.Base(nameOrFile)
	return strings.Join(strings.Fields(strings.TrimSuffix(base, filepath.Ext(base))), "-")
}
