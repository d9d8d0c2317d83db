package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"almanac/catalog/migrations"
	"almanac/catalog/sqlite"
)

// migrator returns a connection to the file and its migrations.
func migrator(t *testing.T, path string) (*sql.DB, *goose.Provider) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, migrations.SQLite(),
		goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	return db, provider
}

// older makes a catalog as the program before the last migration left it.
func older(t *testing.T) (path string) {
	t.Helper()
	path = file(t)
	db, provider := migrator(t, path)
	sources := provider.ListSources()
	_, err := db.ExecContext(t.Context(), `PRAGMA journal_mode = WAL`)
	if err == nil {
		_, err = provider.UpTo(t.Context(), sources[len(sources)-2].Version)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// A process that has an older catalog open goes on working with it: whoever
// would migrate it is refused, whether that process writes or only reads.
func TestACatalogThatIsOpenIsNotMigrated(t *testing.T) {
	for _, mode := range []string{"mode=rw", "mode=ro"} {
		path := older(t)
		running, err := sql.Open("sqlite", "file:"+path+"?"+mode) // it keeps its connection
		if err != nil {
			t.Fatal(err)
		}
		defer running.Close()
		schema := func() (version int64) {
			t.Helper()
			if err := running.QueryRowContext(t.Context(),
				`SELECT MAX(version_id) FROM goose_db_version`).Scan(&version); err != nil {
				t.Fatal(err)
			}
			return version
		}
		before := schema()
		for range 2 {
			fails(t, path, "an older almanac serves this directory: stop it first")
		}
		if has, newest, err := sqlite.Schema(t.Context(), sqlite.Config{Path: path}); err != nil || has != before ||
			newest != before+1 {
			t.Errorf("%s: schema %d is said to be %d of %d, %v", mode, before, has, newest, err)
		}
		if now := schema(); now != before {
			t.Errorf("%s: the schema went from %d to %d", mode, before, now)
		}
		if err := running.Close(); err != nil {
			t.Fatal(err)
		}
		open(t, path)
	}
}

// TestNoCatalogHasNoSchema: whoever asks makes no file.
func TestNoCatalogHasNoSchema(t *testing.T) {
	path := file(t)
	has, newest, err := sqlite.Schema(t.Context(), sqlite.Config{Path: path})
	if _, statErr := os.Stat(path); has != 0 || newest == 0 || err != nil || !errors.Is(statErr, os.ErrNotExist) {
		t.Errorf("schema %d of %d, %v, and the file: %v", has, newest, err, statErr)
	}
}

// TestACatalogFromBeforeTheFirstReleaseIsRefused, whoever opens or checks it.
func TestACatalogFromBeforeTheFirstReleaseIsRefused(t *testing.T) {
	path := older(t)
	db, _ := migrator(t, path)
	if _, err := db.ExecContext(t.Context(), `UPDATE goose_db_version SET version_id = 13 WHERE version_id > 13`); err != nil {
		t.Fatal(err)
	}
	const want = "schema 13, from before almanac 0.2.0"
	fails(t, path, want)
	_, _, err := sqlite.Schema(t.Context(), sqlite.Config{Path: path})
	for _, err := range []error{err, sqlite.Check(t.Context(), sqlite.Config{Path: path}),
		sqlite.CheckSchema(t.Context(), path)} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v", err)
		}
	}
}
