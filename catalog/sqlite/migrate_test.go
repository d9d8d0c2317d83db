package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"almanac/catalog"
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

// A catalog of the first schema keeps its records through all migrations, and
// they can be taken back.
func TestMigrate(t *testing.T) {
	path := file(t)
	db, provider := migrator(t, path)
	if _, err := provider.UpTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	columns := `id, kind, key, key_order, title, url, page, path, source, container, state, category, parent, author,
created_at, updated_at, last_activity_at, first_seen_at, starts_at, ends_at, views, replies, votes, hash, deleted_at,
folded, summary, data, body`
	_, err := db.ExecContext(t.Context(), `INSERT INTO records (`+columns+`) VALUES (1000007, 'doc', 'a', 'a', 'A',
'https://a.example', '/docs/a', 'a.md', 'docs', '', '', '', 0, '', 1, 2, 3, 4, 5, 6, 7, 0, 9, 'h', 0, 'a', '', '', 'text')`)
	if err != nil {
		t.Fatal(err)
	}
	err = inCatalog(path, func(s *sqlite.Store) error {
		r, err := s.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: "a"})
		if err == nil && (r.ID != 1_000_007 || r.URL != "https://a.example" || r.Path != "a.md" || r.Body != "text" ||
			r.Votes != 9) {
			t.Errorf("the record became %+v", r)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := sql.Open("sqlite", path) // an explanation does not notice a schema that others changed
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if plan := explain(t, fresh, `SELECT kind, category, COUNT(*) FROM records WHERE deleted_at = 0
GROUP BY kind, state, source, container, category`); !strings.Contains(plan, "COVERING INDEX records_counts") {
		t.Errorf("counts run without their index: %s", plan)
	}
	if _, err := provider.DownTo(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := provider.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestMigrateCounts upgrades a catalog whose counts had no bounds: days keep what
// counts most, nothing of them is public, and of reported addresses the scheme stays.
func TestMigrateCounts(t *testing.T) {
	path := file(t)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, migrations.SQLite(),
		goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), 9); err != nil {
		t.Fatal(err)
	}
	day := catalog.Day(time.Now())
	numbers := fmt.Sprintf(`WITH RECURSIVE numbers (i, day) AS (
	SELECT 1, %d UNION ALL SELECT i + 1, day FROM numbers WHERE i < 12000) `, day.UnixMicro())
	for _, statement := range []string{
		numbers + `INSERT INTO searches (day, query, count, zero, last_at) SELECT day, 'q' || i, i, 0, day FROM numbers`,
		numbers + `INSERT INTO clicks (day, query, record, position, shown, clicked) SELECT day, 'q', i, 1, i, 0 FROM numbers`,
		numbers + `INSERT INTO csp_reports (day, directive, blocked_uri, count, last_at)
			SELECT day, 'img-src', 'https://' || i || '.example/buy', 1, day FROM numbers`,
		numbers + `INSERT INTO csp_reports (day, directive, blocked_uri, count, last_at)
			SELECT day, 'img-src', 'visit-' || i, 1, day FROM numbers WHERE i <= 3`,
		numbers + `INSERT INTO csp_reports (day, directive, blocked_uri, count, last_at)
			SELECT day, 'img-src', 'inline', 2, day FROM numbers WHERE i = 1`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, path)
	searches, total, err := s.Searches(t.Context(), catalog.SearchQuery{Limit: 1})
	if err != nil || total != catalog.DaySearches || searches[0].Query != "q12000" {
		t.Errorf("%d searches, %+v, %v", total, searches, err)
	}
	if _, total, err := s.Searches(t.Context(), catalog.SearchQuery{Public: true}); err != nil || total != 0 {
		t.Errorf("%d are public, %v", total, err)
	}
	clicks, err := s.Clicks(t.Context(), time.Time{})
	if err != nil || len(clicks) != catalog.DayClicks || clicks[0].Record != 2001 {
		t.Errorf("%d clicks, %+v, %v", len(clicks), clicks[:1], err)
	}
	blocked, err := s.Violations(t.Context(), time.Time{})
	if err != nil || len(blocked) != 3 {
		t.Fatalf("%d violations, %v", len(blocked), err)
	}
	for i, want := range []catalog.Violation{{Blocked: "https", N: 12000}, {Blocked: "other", N: 3},
		{Blocked: "inline", N: 2}} {
		want.Directive, want.LastAt = "img-src", day
		if blocked[i] != want {
			t.Errorf("%+v, want %+v", blocked[i], want)
		}
	}
}
