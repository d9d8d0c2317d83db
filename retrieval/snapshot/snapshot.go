// Package snapshot keeps the state of an index in a directory: immutable files
// and a small manifest that names those which belong together.
//
// A flush writes what is new as further files and then replaces the manifest in
// one step, so that a crash at any moment leaves the old state or the new one.
// What no manifest names is removed; the files of the manifest before the
// current one are kept for one more flush.
//
// One process writes, any number reads. A reader opens every file of a manifest
// before it reads the first, so nothing can be taken from under it later, and
// starts again with the newest manifest if one was gone already.
package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// What may be wrong with a snapshot that exists but cannot be used; the index is then
// built again.
var (
	ErrDamaged = errors.New("damaged")
	ErrFormat  = errors.New("of another format")
)

// File is a file that Create has written and a manifest can name.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // bytes
	Sum  uint32 `json:"sum"`  // CRC-32C of the heads of its sections
}

// manifest is the content of the file manifestName: one section of JSON.
type manifest struct {
	Format string          `json:"format"`
	Next   uint64          `json:"next"` // number of the next file, so that no name is used twice
	Files  []File          `json:"files"`
	State  json.RawMessage `json:"state"`
}

const (
	manifestName  = "manifest"
	temporaryName = "manifest.tmp"
	maxManifest   = 64 << 20
)

// Snapshot is a manifest with its files, which are open.
type Snapshot struct {
	state json.RawMessage
	files map[string]openFile
}

type openFile struct {
	File
	handle *os.File
}

// State decodes what Commit was given.
func (s *Snapshot) State(into any) error {
	if err := json.Unmarshal(s.state, into); err != nil {
		return fmt.Errorf("%w: state: %w", ErrDamaged, err)
	}
	return nil
}

// File returns a file of the snapshot, to be named by the next one too.
func (s *Snapshot) File(name string) (File, bool) {
	f, ok := s.files[name]
	return f.File, ok
}

// Read calls read with the content of one file, and checks that read has read
// all of it without an error. Files can be read at the same time.
func (s *Snapshot) Read(name string, read func(*Reader) error) error {
	f, ok := s.files[name]
	if !ok {
		return fmt.Errorf("%w: no file %q", ErrDamaged, name)
	}
	r := newReader(io.NewSectionReader(f.handle, 0, f.Size), f.Size)
	err := read(r)
	if err == nil {
		r.end(f.Sum)
	}
	if r.err != nil {
		err = r.err // of which the other follows
	}
	if err != nil {
		return fmt.Errorf("file %s: %w", name, err)
	}
	return nil
}

func (s *Snapshot) close() {
	for _, f := range s.files {
		_ = f.handle.Close() // it was only read
	}
}

// maxTries bounds how often Read begins again because the writer was faster.
const maxTries = 5

// Read calls load with the snapshot in a directory. If load fails, or a file is
// missing, and the manifest has been replaced meanwhile, load is called again
// with the new one. The error is fs.ErrNotExist if there is no snapshot; it
// wraps ErrDamaged or ErrFormat if there is one that cannot be used.
func Read(dir, format string, load func(*Snapshot) error) error {
	var before []byte
	var err error
	for n := range maxTries {
		raw, readErr := readManifest(dir)
		if readErr != nil {
			return readErr
		}
		if n > 0 && bytes.Equal(raw, before) {
			break
		}
		before = raw
		if err = try(dir, format, raw, load); err == nil {
			return nil
		}
	}
	return err
}

func try(dir, format string, raw []byte, load func(*Snapshot) error) error {
	m, err := decodeManifest(raw, format)
	if err != nil {
		return err
	}
	s := &Snapshot{state: m.State, files: make(map[string]openFile, len(m.Files))}
	defer s.close()
	for _, f := range m.Files {
		handle, err := os.Open(filepath.Join(dir, f.Name))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: file %s is missing", ErrDamaged, f.Name)
		}
		if err != nil {
			return err
		}
		s.files[f.Name] = openFile{f, handle}
		info, err := handle.Stat()
		if err != nil {
			return err
		}
		if info.Size() != f.Size {
			return fmt.Errorf("%w: file %s has %d bytes, want %d", ErrDamaged, f.Name, info.Size(), f.Size)
		}
	}
	return load(s)
}

// readManifest returns the bytes of a manifest.
func readManifest(dir string) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, manifestName))
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%w: a file, not a directory", ErrFormat)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxManifest))
}

// decodeManifest checks and decodes a manifest of the format.
func decodeManifest(raw []byte, format string) (*manifest, error) {
	r := newReader(bytes.NewReader(raw), int64(len(raw)))
	text := Next[byte](r)
	r.end(r.heads)
	if r.err != nil {
		return nil, fmt.Errorf("manifest: %w", r.err)
	}
	m := &manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%w: manifest: %w", ErrDamaged, err)
	}
	if m.Format != format {
		return nil, fmt.Errorf("%w: %q, want %q", ErrFormat, m.Format, format)
	}
	for _, f := range m.Files {
		kind, number, _ := strings.Cut(f.Name, "-")
		if _, err := strconv.ParseUint(number, 10, 63); err != nil || strings.ContainsAny(kind, `/\`) || f.Size < 0 {
			return nil, fmt.Errorf("%w: manifest names a file %q", ErrDamaged, f.Name)
		}
	}
	return m, nil
}
