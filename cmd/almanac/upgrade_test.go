package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"almanac/catalog/datadir"
	"almanac/catalog/migrations"
	"almanac/retrieval/stack"
	"almanac/testing/postgrestest"
)

// TestDoctorLooksAheadAfterAnUpgrade has a directory as an older program left it, with an older schema and an index by
// other rules, and that program serve it: doctor says what the next start makes of both, and changes neither.
func TestDoctorLooksAheadAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	at := newSite(t, 24)
	s := at.serve(t)
	s.ready(t)
	s.stop(t)
	lock, err := stack.TryLock(t.Context(), at.data, nil)
	if err != nil || lock == nil {
		t.Fatal(lock, err)
	}
	running := older(t, datadir.File(at.data), 2)
	state := func() (schema, generations int) {
		t.Helper()
		err := running.QueryRowContext(t.Context(), `SELECT (SELECT MAX(version_id) FROM goose_db_version), COUNT(*)
FROM generations`).Scan(&schema, &generations)
		if err != nil {
			t.Fatal(err)
		}
		return schema, generations
	}
	schema, generations := state()
	said := at.run(t, "doctor")
	for _, want := range []string{"to which a copy was updated", "`almanac backup ", "stop it first",
		"passages ", " instead of 0", "answers", "24 changes behind", "3 of 3 synced"} {
		if !strings.Contains(said, want) {
			t.Errorf("doctor does not say %q:\n%s", want, said)
		}
	}
	if out := at.run(t, "doctor", "--catalog"); !strings.Contains(out, "holds 24 records") {
		t.Errorf("doctor --catalog: %s", out)
	}
	if now, has := state(); now != schema || has != generations {
		t.Errorf("doctor brings the schema from %d to %d, and %d generations to %d", schema, now, generations, has)
	}
	if _, err := os.Stat(filepath.Join(at.data, ".doctor")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a copy is left: %v", err)
	}
	if err := errors.Join(running.Close(), lock.Unlock()); err != nil {
		t.Fatal(err)
	}
	at.run(t, "search", "tide")
	if said := at.run(t, "doctor"); strings.Contains(said, "copy") || strings.Contains(said, "instead of") {
		t.Errorf("after the update:\n%s", said)
	}
}

// older takes a catalog back by so many schemas, and its index to other rules for passages. What it returns has the
// catalog open, as the program that wrote it has.
func older(t *testing.T, path string, schemas int) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, migrations.SQLite(), goose.WithDisableGlobalRegistry(true))
	for range schemas {
		if err == nil {
			_, err = provider.Down(t.Context())
		}
	}
	if err == nil {
		_, err = db.ExecContext(t.Context(),
			`UPDATE generations SET fingerprint = replace(fingerprint, 'passages ', 'passages 0')`)
	}
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestDoctorLeavesAnOlderDatabase: the first server of a release updates it, and no command that looks.
func TestDoctorLeavesAnOlderDatabase(t *testing.T) {
	t.Parallel()
	address := postgrestest.Database(t)
	at := newSite(t, 3, "ALMANAC_CATALOG_URL="+address)
	at.run(t, "sync")
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations.PostgreSQL(),
		goose.WithDisableGlobalRegistry(true))
	if err == nil {
		_, err = provider.Down(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	_, newest := migrations.Versions(migrations.PostgreSQL())
	for range 2 {
		if said := at.run(t, "doctor"); !strings.Contains(said, "schema") ||
			!strings.Contains(said, fmt.Sprintf("updates it to %d", newest)) {
			t.Errorf("doctor says\n%s", said)
		}
	}
	if said := at.run(t, "doctor", "--catalog"); !strings.Contains(said, fmt.Sprintf("schema %d of %d", newest-1, newest)) {
		t.Errorf("doctor --catalog says\n%s", said)
	}
	at.run(t, "sync")
	if said := at.run(t, "doctor"); strings.Contains(said, "updates it") {
		t.Errorf("afterwards doctor says\n%s", said)
	}
}
