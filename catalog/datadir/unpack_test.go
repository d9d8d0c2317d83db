package datadir

import (
	"bytes"
	"os"
	"path/filepath"
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
