package retrieval_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// truncate cuts every file of a snapshot in half.
func truncate(t *testing.T, path string) {
	t.Helper()
	err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Truncate(name, info.Size()/2)
	})
	if err != nil {
		t.Fatal(err)
	}
}
