//go:build unix

package folder_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/fstest"

	"almanac/ingest/folder"
)

func TestFS(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write := func(dir, name string) {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(outside, "secret.txt")
	write(dir, "a.txt")
	write(dir, "below/b.txt")
	if err := fstest.TestFS(folder.New(dir), "a.txt", "below/b.txt"); err != nil {
		t.Error(err)
	}
	for link, to := range map[string]string{"inside.txt": "below/b.txt",
		"out.txt": filepath.Join(outside, "secret.txt"),
		"up.txt":  "../" + filepath.Base(outside) + "/secret.txt", "out": outside, "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.yaml"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := folder.New(dir)
	for name, want := range map[string]string{"a.txt": "of a.txt", "inside.txt": "of below/b.txt", "out.txt": "",
		"up.txt": "", "out/secret.txt": "", "loop": "", "../x": "", "/etc/passwd": "", "pipe.yaml": "", "none": ""} {
		data, err := fs.ReadFile(files, name)
		if string(data) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if _, err := files.Open("pipe.yaml"); !errors.Is(err, folder.ErrNotRegular) {
		t.Errorf("a pipe: %v", err)
	}
	f, err := files.Open("a.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if own, ok := f.(*os.File); !ok || own.Name() != filepath.Join(dir, "a.txt") {
		t.Errorf("opened %v", f)
	}
	named, at := folder.Named(dir), filepath.Base(dir)
	for name, want := range map[string]string{at + "/a.txt": "of a.txt", "a.txt": "", at + "/up.txt": "", at +
		"x": ""} {
		if data, _ := fs.ReadFile(named, name); string(data) != want {
			t.Errorf("%s: %q, want %q", name, data, want)
		}
	}
	if list, err := fs.ReadDir(named, at); err != nil || len(list) != 8 {
		t.Errorf("%d files, %v", len(list), err)
	}
	names, err := fs.Glob(files, "*.txt")
	if want := []string{"a.txt", "inside.txt", "out.txt", "up.txt"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v", names, err)
	}
	if _, err := folder.New(filepath.Join(dir, "none")).Open("a.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory: %v", err)
	}
}
