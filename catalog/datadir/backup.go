package datadir

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"almanac/catalog/sqlite"
)

// Backup is what a backup says of itself: the first file of the archive, manifest.json. In those of older
// versions it is the last.
type Backup struct {
	Format  int          `json:"format"`
	Network string       `json:"network"`
	Schema  int64        `json:"schema"`  // of the catalog
	Program string       `json:"program"` // its version
	Made    time.Time    `json:"made"`
	Files   []BackupFile `json:"files"`
}

// BackupFile is a file of a backup.
type BackupFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

const (
	backupFormat = 1
	catalogFile  = "catalog.db"
	backupSelf   = "manifest.json"
)

// errElsewhere: the data directory has no catalog that could be copied or replaced.
func (c Catalog) errElsewhere() error {
	return fmt.Errorf("the catalog is in a database (%s): use its own tools, such as pg_dump, or `almanac export` "+
		"and `import`", c)
}

// Backup writes what cannot be made again into an archive: the catalog, and those of the
// other SQLite files that there are, each as it is at one moment, while others read and
// write. The archive appears when it is complete. about says by which program and when.
func (c Catalog) Backup(ctx context.Context, to string, about Backup, others ...string) (_ Backup, err error) {
	if c.URL != "" {
		return about, c.errElsewhere()
	}
	if !c.Exists() {
		return about, fmt.Errorf("there is no %s: nothing to back up", c)
	}
	if info, err := os.Stat(to); err == nil && !info.Mode().IsRegular() {
		return about, fmt.Errorf("%s is no file: name one to write", to)
	}
	part, err := create(to + ".part")
	if err != nil {
		return about, fmt.Errorf("%s cannot be written: %w", to, reason(err))
	}
	defer func() { err = errors.Join(err, part.Close()) }()
	only := flock.New(part.Name())
	if held, err := only.TryLock(); err == nil && !held { // a file system may have no locks
		return about, fmt.Errorf("another process is writing %s", to)
	}
	defer func() { err = errors.Join(err, only.Close()) }()
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(part.Name()))
		}
	}()
	copies := part.Name() + ".files" // a killed one's are in the way
	if err := errors.Join(os.RemoveAll(copies), os.Mkdir(copies, 0o700)); err != nil {
		return about, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(copies)) }()
	if about, err = c.copyInto(ctx, copies, about, others); err != nil {
		return about, err
	}
	if err := errors.Join(part.Truncate(0), part.Chmod(0o600)); err != nil {
		return about, err
	}
	if about, err = about.write(ctx, part, copies); err != nil {
		return about, fmt.Errorf("%s cannot be written: %w", to, reason(err))
	}
	if err := errors.Join(part.Sync(), os.Rename(part.Name(), to)); err != nil {
		return about, err
	}
	return about, syncDir(filepath.Dir(to))
}

// copyInto copies the files into a directory.
func (c Catalog) copyInto(ctx context.Context, dir string, about Backup, others []string) (Backup, error) {
	about.Format = backupFormat
	for _, name := range append([]string{catalogFile}, others...) {
		from := filepath.Join(c.Dir, name)
		if _, err := os.Stat(from); name != catalogFile && errors.Is(err, os.ErrNotExist) {
			continue
		}
		to := filepath.Join(dir, name)
		if err := sqlite.Copy(ctx, sqlite.Config{Path: from, Sealed: c.Sealed}, to); err != nil {
			return about, err
		}
		about.Files = append(about.Files, BackupFile{Name: name})
	}
	schema, network, err := sqlite.Describe(ctx, File(dir), metaNetwork)
	switch {
	case err != nil:
		return about, err
	case network == "":
		return about, fmt.Errorf("%s is empty: nothing to back up", c)
	case network != about.Network:
		return about, fmt.Errorf("data directory %s holds the network %q, not %q: name it with --network "+
			"(%[2]s, or its file)", c.Dir, network, about.Network)
	}
	about.Schema = schema
	return about, nil
}

// create opens a file, which a killed process may have left, and follows no link: that may lead to a file
// of somebody else.
func create(path string) (*os.File, error) {
	before, err := os.Lstat(path)
	if err == nil && !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file: remove it", path)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil {
		before, err = os.Lstat(path)
	}
	if err == nil && !os.SameFile(before, opened) {
		err = fmt.Errorf("%s was replaced", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// write writes the archive.
func (b Backup) write(ctx context.Context, to io.Writer, dir string) (_ Backup, err error) {
	for i, file := range b.Files {
		if b.Files[i], err = copied(ctx, io.Discard, filepath.Join(dir, file.Name)); err != nil {
			return b, err
		}
	}
	packed, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		return b, err
	}
	out := tar.NewWriter(packed)
	self, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return b, err
	}
	self = append(self, '\n')
	if err := out.WriteHeader(b.header(backupSelf, int64(len(self)))); err != nil {
		return b, err
	}
	if _, err := out.Write(self); err != nil {
		return b, err
	}
	for _, file := range b.Files {
		if err := out.WriteHeader(b.header(file.Name, file.Size)); err != nil {
			return b, err
		}
		if _, err := copied(ctx, out, filepath.Join(dir, file.Name)); err != nil {
			return b, err
		}
	}
	return b, errors.Join(out.Close(), packed.Close())
}

func (b Backup) header(name string, size int64) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: b.Made}
}

// copied copies a file and describes it.
func copied(ctx context.Context, out io.Writer, path string) (file BackupFile, err error) {
	f, err := os.Open(path)
	if err != nil {
		return file, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(out, sum), reading{ctx, f})
	return BackupFile{Name: filepath.Base(path), Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// reading reads until ctx is done.
type reading struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r reading) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// syncDir makes renames in a directory last.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
