package datadir

import (
	"archive/tar"
	"bufio"
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
	"slices"

	"almanac/catalog/datadir/filesystem"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
)

// maxManifest bounds the manifest of a backup, in bytes.
const maxManifest = 1 << 20

// Restore puts the files of a backup of the network in place of the present ones, while
// no other process has the catalog open. Before, the whole archive is read and compared
// with its manifest, which says how much is written, and its catalog checked, opened, and given to prepare. Until the
// catalog is renamed, which is one step, the directory is as it was. Only files of the
// known names are taken.
func (c Catalog) Restore(
	ctx context.Context, from, network string, prepare func(context.Context, *sqlstore.Store) error, others ...string,
) (b Backup, err error) {
	if c.URL != "" {
		return b, c.errElsewhere()
	}
	staged := Catalog{Dir: filepath.Join(c.Dir, ".restore")} // a killed one's is in the way
	if err := errors.Join(os.RemoveAll(staged.Dir), os.Mkdir(staged.Dir, 0o700)); err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staged.Dir)) }()
	if b, err = unpack(ctx, from, staged.Dir, append([]string{catalogFile}, others...)); err != nil {
		return b, fmt.Errorf("%s is no whole backup, and nothing was changed: %w", from, reason(err))
	}
	if err := b.fits(from, network); err != nil {
		return b, err
	}
	if err := staged.try(ctx, network, prepare); err != nil {
		return b, fmt.Errorf("%s holds no catalog that can be used, and nothing was changed: %w", from, err)
	}
	for _, file := range b.Files {
		if err := c.resemble(filepath.Join(staged.Dir, file.Name), file.Name); err != nil {
			return b, err
		}
	}
	err = sqlite.Alone(ctx, File(c.Dir), func() error { return c.take(staged.Dir, b.Files) })
	if errors.Is(err, sqlite.ErrOpen) {
		err = fmt.Errorf("another process has %s open: stop it, then run this again; nothing was changed", c)
	}
	return b, err
}

// fits fails if a backup is of another network, or by a newer program.
func (b Backup) fits(from, network string) error {
	newest := sqlite.Newest()
	switch {
	case b.Format > backupFormat || b.Schema > newest:
		return fmt.Errorf("%s was made by a newer version (almanac %s, schema %d; this program supports %d): run that "+
			"one; nothing was changed", from, b.Program, b.Schema, newest)
	case b.Network != network:
		return fmt.Errorf("%s is of the network %q, not of %q: name it with --network (%[2]s, or its file); "+
			"nothing was changed", from, b.Network, network)
	}
	return nil
}

// try opens a catalog as a server would. It is one file afterwards.
func (c Catalog) try(ctx context.Context, network string, prepare func(context.Context, *sqlstore.Store) error) error {
	if err := sqlite.CheckSchema(ctx, File(c.Dir)); err != nil {
		return err
	}
	if err := c.Check(ctx); err != nil {
		return err
	}
	store, err := c.Open(ctx, network, false)
	if err != nil {
		return err
	}
	if err := errors.Join(prepare(ctx, store), store.Close()); err != nil {
		return err
	}
	return sqlite.Alone(ctx, File(c.Dir), func() error { return nil })
}

// resemble gives a file the permissions of the one it replaces, else those that a new one
// has, the owner of the directory, and makes it last.
func (c Catalog) resemble(path, name string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if now, statErr := os.Stat(filepath.Join(c.Dir, name)); statErr == nil {
		err = f.Chmod(now.Mode().Perm())
	}
	if dir, statErr := os.Stat(c.Dir); statErr == nil && os.Geteuid() == 0 {
		err = errors.Join(err, filesystem.GiveTo(f, dir))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// take renames the files into the directory, the catalog first: the others are caches,
// which fit any catalog.
func (c Catalog) take(staged string, files []BackupFile) error {
	err := os.Rename(File(staged), File(c.Dir))
	if err == nil {
		err = syncDir(c.Dir)
	}
	for _, file := range files {
		if err == nil && file.Name != catalogFile {
			at := filepath.Join(c.Dir, file.Name)
			err = errors.Join(sqlite.RemoveLog(at), os.Rename(filepath.Join(staged, file.Name), at))
		}
	}
	return errors.Join(err, syncDir(c.Dir))
}

// unpack reads an archive to its end and writes its files, which its manifest lists and which have these
// names, into a directory.
func unpack(ctx context.Context, from, dir string, names []string) (b Backup, err error) {
	f, err := os.Open(from)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if b, err = readManifest(ctx, f); err == nil {
		err = b.check(dir, names)
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return b, err
	}
	unzipped, err := unzip(ctx, f)
	if err != nil {
		return b, err
	}
	in := tar.NewReader(unzipped)
	left, passed := b.Files, false // passed: the manifest is behind
	for {
		h, err := in.Next()
		switch {
		case errors.Is(err, io.EOF) && len(left) > 0:
			return b, fmt.Errorf("it has no %s", left[0].Name)
		case errors.Is(err, io.EOF):
			// What follows the last file has a checksum of gzip's to be compared.
			_, err := io.Copy(io.Discard, unzipped)
			return b, err
		case err != nil:
			return b, err
		case h.Name == backupSelf && !passed:
			passed = true
			continue
		case h.Typeflag != tar.TypeReg || len(left) == 0 || h.Name != left[0].Name || h.Size != left[0].Size:
			return b, fmt.Errorf("it has a file %q of %d bytes, which %s does not list there", h.Name, h.Size, backupSelf)
		}
		switch file, err := save(in, filepath.Join(dir, h.Name)); {
		case err != nil:
			return b, err
		case file != left[0]:
			return b, fmt.Errorf("%s is not as it was saved", file.Name)
		}
		left = left[1:]
	}
}

func unzip(ctx context.Context, f io.Reader) (*gzip.Reader, error) {
	return gzip.NewReader(bufio.NewReaderSize(reading{ctx, f}, 1<<20))
}

// readManifest looks for the manifest in an archive, and writes nothing.
func readManifest(ctx context.Context, f io.Reader) (b Backup, err error) {
	unzipped, err := unzip(ctx, f)
	if err != nil {
		return b, err
	}
	for in := tar.NewReader(unzipped); ; {
		h, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return b, fmt.Errorf("it has no %s", backupSelf)
		case err != nil:
			return b, err
		case h.Name != backupSelf:
			continue
		case h.Typeflag != tar.TypeReg || h.Size > maxManifest:
			return b, fmt.Errorf("%s is none of a backup", backupSelf)
		}
		text, err := io.ReadAll(in)
		if err == nil {
			err = json.Unmarshal(text, &b)
		}
		if err != nil {
			return b, fmt.Errorf("%s: %w", backupSelf, err)
		}
		return b, nil
	}
}

// check fails if a manifest lists files of other names or no catalog, or more bytes than fit beside a
// directory.
func (b Backup) check(dir string, names []string) error {
	if !slices.ContainsFunc(b.Files, func(f BackupFile) bool { return f.Name == catalogFile }) {
		return fmt.Errorf("it has no %s", catalogFile)
	}
	size := 0.0
	for _, f := range b.Files {
		if !slices.Contains(names, f.Name) || f.Size < 0 {
			return fmt.Errorf("%s lists a file %q of %d bytes, which is none of a backup", backupSelf, f.Name, f.Size)
		}
		size += float64(f.Size)
	}
	if free, err := filesystem.Space(dir); err == nil && size > free {
		return fmt.Errorf("its files take %.0f bytes, and %.0f are free", size, free)
	}
	return nil
}

// save writes a file.
func save(from io.Reader, path string) (file BackupFile, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return file, err
	}
	sum := sha256.New()
	size, err := io.Copy(io.MultiWriter(f, sum), from)
	file = BackupFile{Name: filepath.Base(path), Size: size, SHA256: hex.EncodeToString(sum.Sum(nil))}
	return file, errors.Join(err, f.Close())
}
