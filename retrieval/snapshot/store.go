package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Store writes the snapshot of a directory. It is used by one goroutine at a
// time, in one process at a time.
type Store struct {
	dir, format string
	next        uint64 // number of the next file
	named       []File // by the manifest
	made        bool   // the directory exists and is durable
}

// NewStore returns the store of a directory, which the first Create or Commit
// makes. It removes what an unfinished flush left, and all of a snapshot that
// is damaged or of another format, be it a directory or a file.
func NewStore(dir, format string) (*Store, error) {
	s := &Store{dir: dir, format: format, next: 1}
	raw, err := readManifest(dir)
	switch {
	case errors.Is(err, ErrFormat):
		return s, os.Remove(dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if m, err := decodeManifest(raw, format); err == nil {
		s.next, s.named = max(m.Next, 1), m.Files
		s.sweep(manifestName)
	} else {
		s.sweep() // there is none, or it names nothing that can be used
	}
	return s, nil
}

// Create writes a file and makes it durable; its name begins with kind. It
// belongs to the snapshot once Commit names it.
func (s *Store) Create(kind string, write func(*Writer)) (File, error) {
	if err := s.mkdir(); err != nil {
		return File{}, err
	}
	name := fmt.Sprintf("%s-%d", kind, s.next)
	s.next++
	return writeFile(filepath.Join(s.dir, name), write)
}

// Commit makes the files and the state, which is stored as JSON, the snapshot.
// Then it removes every file that neither this one nor the one before it names.
func (s *Store) Commit(files []File, state any) error {
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	text, err = json.Marshal(manifest{Format: s.format, Next: s.next, Files: files, State: text})
	if err != nil {
		return err
	}
	if err := s.mkdir(); err != nil {
		return err
	}
	temporary := filepath.Join(s.dir, temporaryName)
	if _, err := writeFile(temporary, func(w *Writer) { Write(w, text) }); err != nil {
		return err
	}
	if err := syncDirectory(s.dir); err != nil { // so that the manifest names no file that a crash loses
		return err
	}
	if err := os.Rename(temporary, filepath.Join(s.dir, manifestName)); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	if err := syncDirectory(s.dir); err != nil {
		return err
	}
	before := s.named
	s.named = slices.Clone(files)
	s.sweep(names(manifestName, before)...)
	return nil
}

// names returns a name and those of files.
func names(name string, files []File) []string {
	list := []string{name}
	for _, f := range files {
		list = append(list, f.Name)
	}
	return list
}

// sweep removes every file that neither the manifest nor keep names; what
// cannot be removed is left to the next sweep. It counts on from their numbers,
// since a reader may still look for a file of that name.
func (s *Store) sweep(keep ...string) {
	entries, _ := os.ReadDir(s.dir) // one that cannot be read is reported by Create
	keep = append(keep, names("", s.named)...)
	for _, e := range entries {
		if slices.Contains(keep, e.Name()) || !e.Type().IsRegular() {
			continue
		}
		_, number, _ := strings.Cut(e.Name(), "-")
		if n, err := strconv.ParseUint(number, 10, 63); err == nil {
			s.next = max(s.next, n+1)
		}
		_ = os.Remove(filepath.Join(s.dir, e.Name()))
	}
}

// mkdir makes the directory.
func (s *Store) mkdir() error {
	if s.made {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	s.made = true
	return syncDirectory(filepath.Dir(s.dir))
}

// writeFile writes a durable file that the umask lets others read; on an error it is removed.
func writeFile(path string, write func(*Writer)) (f File, err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return f, err
	}
	w := newWriter(out)
	write(w)
	err = w.flush()
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return f, errors.Join(err, os.Remove(path))
	}
	return File{Name: filepath.Base(path), Size: w.size, Sum: w.heads}, nil
}

func syncDirectory(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
