package folder_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"almanac/ingest/folder"
)

func TestReadIsBounded(t *testing.T) {
	dir := t.TempDir()
	text := strings.Repeat("x", 1<<20+1)
	path := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(limit int64) ([]byte, error){
		"a.txt": func(limit int64) ([]byte, error) { return folder.Read(folder.New(dir), "a.txt", limit) },
		"b/c.txt": func(limit int64) ([]byte, error) {
			return folder.Read(fstest.MapFS{"b/c.txt": {Data: []byte(text)}}, "b/c.txt", limit)
		},
		path: func(limit int64) ([]byte, error) { return folder.ReadFile(path, limit) },
	} {
		for _, limit := range []int64{1<<20 + 1, 1<<20 + 2} {
			if data, err := read(limit); err != nil || string(data) != text {
				t.Errorf("%s up to %d: %d bytes, %v", name, limit, len(data), err)
			}
		}
		for limit, want := range map[int64]string{1 << 20: "is larger than 1 MB", 1000: "is larger than 1000 bytes"} {
			data, err := read(limit)
			large, ok := errors.AsType[folder.TooLarge](err)
			if data != nil || !ok || int64(large) != limit || err.Error() != "read "+name+": "+want ||
				folder.Reason(err).Error() != want {
				t.Errorf("%s up to %d: %d bytes, %v", name, limit, len(data), err)
			}
		}
	}
	for _, read := range []func() ([]byte, error){
		func() ([]byte, error) { return folder.Read(folder.New(dir), "none", 1) },
		func() ([]byte, error) { return folder.ReadFile(filepath.Join(dir, "none"), 1) },
		func() ([]byte, error) { return folder.ReadFile(dir, 1) },
	} {
		if data, err := read(); data != nil || err == nil || folder.Reason(err) == err {
			t.Errorf("%q, %v", data, err)
		}
	}
	if _, err := folder.ReadFile(filepath.Join(dir, "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is missing: %v", err)
	}
	if err := errors.New("other"); folder.Reason(err) != err || folder.Reason(nil) != nil {
		t.Error("another error is changed")
	}
}
