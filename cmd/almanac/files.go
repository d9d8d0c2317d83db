package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"almanac/cmd/config"
)

// replaceFile writes a file under a temporary name and renames it when it is
// complete, so that readers never see a part. It keeps the permissions of one that is
// there.
func replaceFile(path string, data []byte) (err error) {
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
	_, err = f.Write(data)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
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

// checkEnding refuses to write a network file that would not be taken for one.
func checkEnding(file string) error {
	if ext := filepath.Ext(file); ext != ".yaml" && ext != ".yml" {
		return fmt.Errorf("%w: %s: a network file ends in .yaml", config.ErrUsage, file)
	}
	return nil
}

// printJSON prints JSON for people and programs.
func printJSON(w io.Writer, out any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// stem returns the name of a profile, or of its file without directory and
// extension.
func stem(nameOrFile string) string {
	base := filepath.Base(nameOrFile)
	return strings.Join(strings.Fields(strings.TrimSuffix(base, filepath.Ext(base))), "-")
}
