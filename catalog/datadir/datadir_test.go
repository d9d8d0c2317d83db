package datadir_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"almanac/catalog/datadir"
	"almanac/catalog/sqlstore"
)

func TestDefault(t *testing.T) {
	for _, tt := range []struct{ xdg, home, want string }{
		{"/x", "/h", "/x/almanac/buoys"}, {"", "/h", "/h/.local/share/almanac/buoys"},
		{"relative", "/h", "/h/.local/share/almanac/buoys"}, {"", "", ""},
	} {
		if got := datadir.Default("buoys", tt.xdg, tt.home); got != tt.want {
			t.Errorf("%q, %q: %s, want %s", tt.xdg, tt.home, got, tt.want)
		}
	}
}

// TestAnEmptiedCatalogIsRefused empties the file of an indexed directory: without
// this it would be served as a new, empty catalog.
func TestAnEmptiedCatalogIsRefused(t *testing.T) {
	dir := t.TempDir()
	open := func(indexed bool) error {
		store, err := datadir.Catalog{Dir: dir}.Open(t.Context(), "buoys", indexed)
		if err != nil {
			return err
		}
		return store.Close()
	}
	if err := open(true); err != nil {
		t.Errorf("a missing catalog beside an index: %v", err)
	}
	if err := open(true); err != nil {
		t.Errorf("a bound catalog: %v", err)
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(datadir.File(dir) + suffix) // it may not exist
	}
	if err := os.Truncate(datadir.File(dir), 0); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first must not make it valid
		if err := open(true); err == nil ||
			!strings.Contains(err.Error(), "is empty although an index lies in") {
			t.Errorf("an emptied catalog: %v", err)
		}
	}
	if err := open(false); err != nil {
		t.Errorf("an empty file without an index: %v", err)
	}
	if err := open(true); err != nil {
		t.Errorf("the catalog of before: %v", err)
	}
}

func TestAnotherNetworkIsRefused(t *testing.T) {
	dir := t.TempDir()
	store, err := datadir.Catalog{Dir: dir}.Open(t.Context(), "buoys", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	_, err = datadir.Catalog{Dir: dir}.Open(t.Context(), "lights", false)
	if err == nil || !strings.Contains(err.Error(), `holds the network "buoys"`) {
		t.Errorf("lights: %v", err)
	}
}

// TestWatchNoticesAnotherCatalog: a server that went on would lose what it writes.
func TestWatchNoticesAnotherCatalog(t *testing.T) {
	dir := t.TempDir()
	at := datadir.File(dir)
	for name, change := range map[string]func() error{
		"replaced": func() error {
			return errors.Join(os.WriteFile(at+".new", []byte("b"), 0o600), os.Rename(at+".new", at))
		},
		"gone": func() error { return os.Remove(at) },
	} {
		if err := os.WriteFile(at, []byte("a"), 0o600); err != nil {
			t.Fatal(err)
		}
		tick, ended := make(chan time.Time), make(chan error, 1)
		go func() { ended <- datadir.Catalog{Dir: dir}.Watch(t.Context(), new(sqlstore.Store), tick) }()
		tick <- time.Time{}
		tick <- time.Time{} // the first look was at the same file
		err := change()
		close(tick) // so that it looks on
		if watched := <-ended; err != nil || watched == nil || !strings.Contains(watched.Error(), name) {
			t.Errorf("%v, watched: %v", err, watched)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := os.WriteFile(at, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (datadir.Catalog{Dir: dir}.Watch(ctx, new(sqlstore.Store), nil)); err != nil {
		t.Errorf("at the end: %v", err)
	}
}
