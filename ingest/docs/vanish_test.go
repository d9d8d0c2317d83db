package docs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestAFileThatVanishesIsOnlyUnread(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.md")
	if err := os.WriteFile(file, []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := openFolder(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := f.read("a.md"); !errors.Is(err, errUnread) || !unreadable(err) {
		t.Errorf("reading it: %v", err)
	}
	if f.version("a.md") == "" || f.version("b.md") != "" {
		t.Errorf("versions %q and %q", f.version("a.md"), f.version("b.md"))
	}
}
