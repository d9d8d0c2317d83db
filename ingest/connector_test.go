package ingest_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"testing"
	"testing/fstest"

	"almanac/ingest"
	"almanac/ingest/folder"
)

func TestPlace(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("of this machine"), 0o600); err != nil {
		t.Fatal(err)
	}
	beside := ingest.Environment{Files: fstest.MapFS{"mail/a.txt": {Data: []byte("of the folder")}}}
	for _, c := range []struct {
		env        ingest.Environment
		name, want string // "" = does not exist
	}{
		{beside, "mail/a.txt", "of the folder"},
		{beside, "./mail//a.txt", "of the folder"},
		{beside, filepath.Join(dir, "a.txt"), "of this machine"},
		{beside, "../mail/a.txt", ""},
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
	below, name := beside.Place(curated)
	if data, err := fs.ReadFile(below, path.Join(name, "b.txt")); string(data) != "below" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if data, err := fs.ReadFile(below, path.Join(name, "out.txt")); err == nil {
		t.Errorf("a link leads out to %q", data)
	}
	for _, pattern := range []string{"*.txt", "re*/b.txt"} { // also of directories
		files, pattern := beside.Place(filepath.Join(dir, pattern))
		if names, err := fs.Glob(files, pattern); err != nil || len(names) != 1 {
			t.Errorf("%s finds %v, %v", pattern, names, err)
		}
	}
}

// TestReadIsBounded: a file that the operator names may be of any size.
func TestReadIsBounded(t *testing.T) {
	env := ingest.Environment{Files: fstest.MapFS{"mail/a.txt": {Data: []byte("of the folder")}}}
	for _, tt := range []struct {
		name  string
		limit int64
		want  string // "" = is an error
	}{
		{"mail/a.txt", 13, "of the folder"}, {"mail/a.txt", 12, ""}, {"mail/b.txt", 13, ""},
		{"../mail/a.txt", 13, ""},
	} {
		data, err := env.Read(tt.name, tt.limit)
		if string(data) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s of at most %d bytes: %q, %v", tt.name, tt.limit, data, err)
		}
	}
}

// TestLocalPathsAreBesideTheNetworkFile: other programs, such as git, run elsewhere. An
// embedded folder is nowhere on this machine.
func TestLocalPathsAreBesideTheNetworkFile(t *testing.T) {
	dir := t.TempDir()
	onDisk, embedded := ingest.Environment{Files: folder.New(dir)}, ingest.Environment{Files: fstest.MapFS{}}
	for _, tt := range []struct {
		env        ingest.Environment
		name, want string
	}{
		{onDisk, "lips.bundle", filepath.Join(dir, "lips.bundle")},
		{onDisk, "../lips", filepath.Join(filepath.Dir(dir), "lips")},
		{onDisk, "/srv/lips", "/srv/lips"},
		{embedded, "lips.bundle", "lips.bundle"},
		{ingest.Environment{}, "lips.bundle", "lips.bundle"},
	} {
		if got := tt.env.Local(tt.name); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.name, got, tt.want)
		}
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
