// Package catalogfile makes catalogs for tests without creating their tables each time.
package catalogfile

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
)

// Empty returns the path of the file of an empty catalog, in a directory that
// the test's end removes.
func Empty(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.db")
	blank, err := empty()
	if err == nil {
		err = os.WriteFile(path, blank, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// empty is made once, because creating the tables takes longer than most tests.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "catalogfile")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "catalog.db")
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// Around returns a catalog whose operations run within around, by their names, to be counted,
// delayed or failed. It is closed with the one that it is of.
func Around(store *sqlstore.Store, around func(op string, do func() error) error) *sqlstore.Store {
	cfg := store.Config
	cfg.Around = func(_ context.Context, op string, do func() error) error { return around(op, do) }
	return sqlstore.New(cfg)
}
