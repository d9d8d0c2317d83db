package ingest_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"
	"testing/fstest"

	"almanac/ingest"
)

func TestPlace(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("of this machine"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := ingest.Environment{Files: fstest.MapFS{"mail/a.txt": {Data: []byte("of the folder")}}}
	for _, c := range []struct {
		env        ingest.Environment
		name, want string // "" = does not exist
	}{
		{folder, "mail/a.txt", "of the folder"},
		{folder, "./mail//a.txt", "of the folder"},
		{folder, filepath.Join(dir, "a.txt"), "of this machine"},
		{folder, "../mail/a.txt", ""},
		{ingest.Environment{}, "mail/a.txt", ""},
	} {
		files, name := c.env.Place(c.name)
		data, err := fs.ReadFile(files, name)
		if string(data) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v; want %q", c.name, data, err, c.want)
		}
	}
	// The directory that the operator names may be a link; a file in it must not lead out.
	curated := filepath.Join(dir, "curated")
	for name, err := range map[string]error{
		"a real directory": os.Mkdir(filepath.Join(dir, "real"), 0o700), "a link to it": os.Symlink("real", curated),
		"a link out": os.Symlink(filepath.Join(dir, "a.txt"), filepath.Join(dir, "real", "out.txt")),
		"a file":     os.WriteFile(filepath.Join(dir, "real", "b.txt"), []byte("below"), 0o600),
	} {
		if err != nil {
			t.Fatal(name, err)
		}
	}
	below, name := folder.Place(curated)
	if data, err := fs.ReadFile(below, path.Join(name, "b.txt")); string(data) != "below" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if data, err := fs.ReadFile(below, path.Join(name, "out.txt")); err == nil {
		t.Errorf("a link leads out to %q", data)
	}
	files, pattern := folder.Place(filepath.Join(dir, "*.txt"))
	if names, err := fs.Glob(files, pattern); err != nil || len(names) != 1 {
		t.Errorf("a pattern finds %v, %v", names, err)
	}
}

func TestSecret(t *testing.T) {
	t.Setenv("CAUSEWAY_TOKEN", " of the process\n")
	if got := (ingest.Environment{}).Secret("CAUSEWAY_TOKEN"); got != "of the process" {
		t.Errorf("%q", got)
	}
	env := ingest.Environment{Getenv: func(name string) string { return " for " + name }}
	if got := env.Secret("CAUSEWAY_TOKEN"); got != "for CAUSEWAY_TOKEN" {
		t.Errorf("%q", got)
	}
}
