// Package memory keeps what a run of a source remembers for the next one, in
// files in the source's working directory. A file's name is part of the run's
// cursor: an interrupted run leaves the memory of the previous run in place,
// and a missing or damaged file means that everything is read again. It imports
// leaves of this module only.
package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"almanac/ingest/folder"
)

// maxSize is the maximum size of a file in bytes: a million items.
const maxSize = 256 << 20

// Files are the memory files of one connector.
type Files struct {
	Dir    string // of the source
	Prefix string // of the file names
}

// Settings returns a digest of the values that determine how a source is read.
func Settings(values ...any) string {
	raw, err := json.Marshal(values)
	if err != nil {
		panic("memory: settings must be plain data: " + err.Error())
	}
	return Digest(raw)[:16]
}

// Digest returns the digest of data as 32 hexadecimal digits.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// Recall reads what Remember wrote into v and reports whether it is there and
// intact. It may modify v even if not.
func (f Files) Recall(cursor string, v any) bool {
	raw, err := f.Read(cursor)
	return err == nil && Digest(raw) == cursor && json.Unmarshal(raw, v) == nil
}

// Remember stores v and returns the cursor that names it. The file of the
// previous cursor is kept, as the new cursor may never be stored.
func (f Files) Remember(v any, before string) (cursor string, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("remember what was seen: %w", err)
	}
	cursor = Digest(raw)
	if old, err := f.Read(cursor); cursor == before && err == nil && bytes.Equal(old, raw) {
		return cursor, nil
	}
	return cursor, f.Write(cursor, raw, before)
}

// Read returns the content of the named file. Its error is fs.ErrNotExist if
// the file does not exist or the name is invalid.
func (f Files) Read(name string) ([]byte, error) {
	if name == "" || strings.ContainsAny(name, `/\`) {
		return nil, fs.ErrNotExist
	}
	return folder.ReadFile(filepath.Join(f.Dir, f.Prefix+name), maxSize)
}

// Write writes a file atomically and removes all others but the previous one.
func (f Files) Write(name string, data []byte, before string) error {
	if err := f.write(name, data); err != nil {
		return fmt.Errorf("remember what was seen: %w", err)
	}
	old, _ := filepath.Glob(filepath.Join(f.Dir, f.Prefix+"*")) // the pattern is valid
	for _, file := range old {
		if !slices.Contains([]string{name, before}, strings.TrimPrefix(filepath.Base(file), f.Prefix)) {
			_ = os.Remove(file) // the next run tries again
		}
	}
	return nil
}

func (f Files) write(name string, data []byte) (err error) {
	file, err := os.CreateTemp(f.Dir, f.Prefix+"*.tmp")
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(f.Dir, f.Prefix+name))
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
