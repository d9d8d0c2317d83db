package datadir

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// FuzzUnpack reads archives of anybody: what is written lies in the directory under known
// names.
func FuzzUnpack(f *testing.F) {
	dir := f.TempDir()
	about := Backup{Format: backupFormat, Network: "buoys", Made: time.Unix(0, 0), Files: []BackupFile{{Name: catalogFile}}}
	var whole bytes.Buffer
	err := os.WriteFile(File(dir), []byte("a catalog"), 0o600)
	if err == nil {
		_, err = about.write(f.Context(), &whole, dir)
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole.Bytes())
	f.Add(whole.Bytes()[:whole.Len()/2])
	f.Fuzz(func(t *testing.T, archive []byte) {
		parent := t.TempDir()
		from, to := filepath.Join(parent, "from"), filepath.Join(parent, "to")
		if err := os.WriteFile(from, archive, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		b, err := unpack(t.Context(), from, to, []string{catalogFile})
		if err == nil && len(b.Files) != 1 {
			t.Errorf("%+v is taken", b)
		}
		if beside, err := os.ReadDir(parent); err != nil || len(beside) != 2 {
			t.Error(beside, err)
		}
		if in, err := os.ReadDir(to); err != nil || len(in) > 1 || len(in) == 1 && in[0].Name() != catalogFile {
			t.Error(in, err)
		}
	})
}

// TestUnpackWritesNoMoreThanTheManifestSays: an archive is small, whatever is in it.
func TestUnpackWritesNoMoreThanTheManifestSays(t *testing.T) {
	for name, say := range map[string]func(*Backup){
		"nothing":       func(b *Backup) { b.Files = nil },
		"a smaller one": func(b *Backup) { b.Files[0].Size = 10 },
		"a larger one":  func(b *Backup) { b.Files[0].Size = 1 << 60 },
		"another":       func(b *Backup) { b.Files[0].Name = "cache" },
	} {
		to, from := t.TempDir(), filepath.Join(t.TempDir(), "from")
		b := Backup{Format: backupFormat, Files: []BackupFile{{Name: catalogFile, Size: 1000}}}
		say(&b)
		self, err := json.Marshal(b)
		var whole bytes.Buffer
		packed := gzip.NewWriter(&whole)
		out := tar.NewWriter(packed)
		for _, f := range [][2]string{{catalogFile, strings.Repeat("a", 1000)}, {backupSelf, string(self)}} {
			err = errors.Join(err, out.WriteHeader(b.header(f[0], int64(len(f[1])))))
			_, writeErr := out.Write([]byte(f[1]))
			err = errors.Join(err, writeErr)
		}
		if err = errors.Join(err, out.Close(), packed.Close(), os.WriteFile(from, whole.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := unpack(t.Context(), from, to, []string{catalogFile, "cache"}); err == nil {
			t.Errorf("%s: taken", name)
		}
		if in, err := os.ReadDir(to); err != nil || len(in) > 0 {
			t.Errorf("%s: %v is written, %v", name, in, err)
		}
	}
}
