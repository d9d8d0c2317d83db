package datadir_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"almanac/catalog/datadir"
	"almanac/catalog/sqlstore"
)

// kept is a directory whose catalog says "now" is value, and which has a cache.
func kept(t *testing.T, value string) datadir.Catalog {
	t.Helper()
	at := datadir.Catalog{Dir: t.TempDir()}
	store, err := at.Open(t.Context(), "buoys", false)
	if err == nil {
		err = errors.Join(store.SetMeta(t.Context(), "now", value), store.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.ReadFile(datadir.File(at.Dir)) // a file of SQLite as any other
	if err == nil {
		err = os.WriteFile(filepath.Join(at.Dir, "cache"), cache, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// now is what a directory's catalog says.
func now(t *testing.T, at datadir.Catalog, key string) (value string) {
	t.Helper()
	store, err := at.Open(t.Context(), "buoys", false)
	if err == nil {
		value, err = store.Meta(t.Context(), key)
		err = errors.Join(err, store.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func backup(t *testing.T, at datadir.Catalog) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "b.tar.gz")
	if _, err := at.Backup(t.Context(), file, datadir.Backup{Network: "buoys", Program: "1", Made: time.Unix(0, 0)},
		"cache", "none"); err != nil {
		t.Fatal(err)
	}
	return file
}

func restore(t *testing.T, at datadir.Catalog, file string) error {
	_, err := at.Restore(t.Context(), file, "buoys", func(context.Context, *sqlstore.Store) error { return nil }, "cache")
	return err
}

// tree is a directory by path.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestABackupReplacesADamagedCatalog(t *testing.T) {
	at := kept(t, "before")
	file := backup(t, at)
	for name, change := range map[string]func() error{
		"none":    func() error { return nil },
		"gone":    func() error { return os.Remove(datadir.File(at.Dir)) },
		"garbled": func() error { return os.WriteFile(datadir.File(at.Dir), []byte(strings.Repeat("no", 5000)), 0o600) },
		"cut":     func() error { return os.Truncate(datadir.File(at.Dir), 5000) },
		"empty":   func() error { return os.Truncate(datadir.File(at.Dir), 0) },
		"another's log": func() error {
			return os.WriteFile(datadir.File(at.Dir)+"-wal", []byte(strings.Repeat("no", 5000)), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := errors.Join(change(), restore(t, at, file), at.Check(t.Context())); err != nil {
				t.Fatal(err)
			}
			if got := now(t, at, "now"); got != "before" {
				t.Error(got)
			}
		})
	}
}

// TestACatalogThatIsOpenIsNotReplaced: what its process wrote would be lost.
func TestACatalogThatIsOpenIsNotReplaced(t *testing.T) {
	file := backup(t, kept(t, "before"))
	at := kept(t, "after")
	store, err := at.Open(t.Context(), "buoys", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := restore(t, at, file); err == nil || !strings.Contains(err.Error(), "stop it, then run this again") {
		t.Errorf("while it is open: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if got := now(t, at, "now"); got != "after" {
		t.Error(got)
	}
	if err := restore(t, at, file); err != nil || now(t, at, "now") != "before" {
		t.Error(err)
	}
}

// TestABackupIsOfOneMoment writes two facts in turn meanwhile, of which the first is
// ahead by one at most.
func TestABackupIsOfOneMoment(t *testing.T) {
	at := kept(t, "")
	store, err := at.Open(t.Context(), "buoys", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	began, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 1; ; i++ {
			for _, key := range []string{"first", "second"} {
				if err := store.SetMeta(context.WithoutCancel(ctx), key, strconv.Itoa(i)); err != nil {
					ended <- err
					return
				}
			}
			if i == 1 {
				close(began)
			}
			if ctx.Err() != nil {
				ended <- nil
				return
			}
		}
	}()
	<-began
	var files []string
	for range 5 {
		files = append(files, backup(t, at))
	}
	cancel()
	if err := errors.Join(<-ended, store.Close()); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		to := datadir.Catalog{Dir: t.TempDir()}
		if err := restore(t, to, file); err != nil {
			t.Fatal(err)
		}
		first, err := strconv.Atoi(now(t, to, "first"))
		second, secondErr := strconv.Atoi(now(t, to, "second"))
		if err = errors.Join(err, secondErr); err != nil || first < second || first > second+1 {
			t.Errorf("first %d, second %d, %v", first, second, err)
		}
	}
}

// packed is an archive of files by name, in this order.
func packed(t *testing.T, files ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f[0], Size: int64(len(f[1]))})
		if err == nil {
			_, err = io.WriteString(w, f[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpacked returns the files of an archive, in their order.
func unpacked(t *testing.T, archive []byte) (files [][2]string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		text, readErr := io.ReadAll(r)
		if err = errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		files = append(files, [2]string{h.Name, string(text)})
	}
}

// unzipped is what an archive packs; nil: it cannot be read.
func unzipped(archive []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	return plain
}

func TestABrokenBackupChangesNothing(t *testing.T) {
	whole, err := os.ReadFile(backup(t, kept(t, "before")))
	if err != nil {
		t.Fatal(err)
	}
	files := unpacked(t, whole)
	if len(files) != 3 || files[0][0] != "manifest.json" || files[1][0] != "catalog.db" || files[2][0] != "cache" {
		t.Fatal("the archive has other files")
	}
	self, db, cache := files[0], files[1], files[2]
	larger := [2]string{"cache", cache[1] + "more"}
	says := func(change func(*datadir.Backup)) [2]string {
		var b datadir.Backup
		if err := json.Unmarshal([]byte(self[1]), &b); err != nil {
			t.Fatal(err)
		}
		change(&b)
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		return [2]string{self[0], string(text)}
	}
	broken := map[string][]byte{
		"empty":                       nil,
		"something behind":            append(bytes.Clone(whole), "more"...),
		"no manifest":                 packed(t, db, cache),
		"two manifests":               packed(t, db, cache, self, self),
		"no catalog":                  packed(t, cache, says(func(b *datadir.Backup) { b.Files = b.Files[1:] })),
		"a file is missing":           packed(t, db, self),
		"a file twice":                packed(t, db, cache, cache, self),
		"two manifests, one first":    packed(t, self, db, cache, self),
		"a larger file":               packed(t, db, larger, self),
		"a larger file, said before":  packed(t, self, db, larger),
		"more than the disk has":      packed(t, says(func(b *datadir.Backup) { b.Files[0].Size = 1 << 60 }), db, cache),
		"a negative size":             packed(t, db, cache, says(func(b *datadir.Backup) { b.Files[0].Size = -1 })),
		"other content":               packed(t, db, [2]string{"cache", "other"}, self),
		"a name that leads outside":   packed(t, db, cache, [2]string{"../outside", "x"}, self),
		"an absolute name":            packed(t, db, cache, [2]string{filepath.Join(t.TempDir(), "x"), "x"}, self),
		"a name in a directory":       packed(t, db, cache, [2]string{"sources/a", "x"}, self),
		"another network":             packed(t, db, cache, says(func(b *datadir.Backup) { b.Network = "lights" })),
		"a newer schema":              packed(t, db, cache, says(func(b *datadir.Backup) { b.Schema = 1 << 20 })),
		"a newer format":              packed(t, db, cache, says(func(b *datadir.Backup) { b.Format = 1 << 20 })),
		"a manifest that is not JSON": packed(t, db, cache, [2]string{self[0], "{"}),
	}
	for i := range 30 {
		at := len(whole) * i / 30
		broken["cut at "+strconv.Itoa(at)] = whole[:at]
		at = max(at, 10) // the header of gzip has the time and the system, which say nothing
		changed := bytes.Clone(whole)
		changed[at] ^= 0x10
		if bytes.Equal(unzipped(changed), unzipped(whole)) {
			continue // some bits between blocks say nothing either
		}
		broken["changed at "+strconv.Itoa(at)] = changed
	}
	parent := t.TempDir()
	at := datadir.Catalog{Dir: filepath.Join(parent, "data")}
	if err := os.CopyFS(at.Dir, os.DirFS(kept(t, "after").Dir)); err != nil {
		t.Fatal(err)
	}
	before := tree(t, parent)
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	for name, archive := range broken {
		if err := os.WriteFile(file, archive, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := restore(t, at, file); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%s: %v", name, err)
		}
		if now := tree(t, parent); !maps.Equal(now, before) {
			t.Fatalf("%s: changed something", name)
		}
	}
	for name, archive := range map[string][]byte{
		"the same files": packed(t, self, db, cache), "the manifest last": packed(t, db, cache, self),
	} {
		if err := os.WriteFile(file, archive, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := restore(t, at, file); err != nil || now(t, at, "now") != "before" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestABackupFollowsNoLink: what lies at the temporary name may be of somebody else.
func TestABackupFollowsNoLink(t *testing.T) {
	at, dir := kept(t, "before"), t.TempDir()
	file, precious := filepath.Join(dir, "b.tar.gz"), filepath.Join(dir, "precious")
	err := errors.Join(os.WriteFile(precious, []byte("mine"), 0o600), os.Symlink(precious, file+".part"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = at.Backup(t.Context(), file, datadir.Backup{Network: "buoys"})
	if err == nil || !strings.Contains(err.Error(), "b.tar.gz.part is no file") {
		t.Errorf("a link: %v", err)
	}
	if text, err := os.ReadFile(precious); err != nil || string(text) != "mine" {
		t.Errorf("what the link leads to: %.20q, %v", text, err)
	}
}
