package sqlite_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"almanac/catalog"
	"almanac/catalog/migrations"
	"almanac/catalog/sqlite"
)

// A catalog of the first schema keeps its records through all migrations, and
// they can be taken back.
func TestMigrate(t *testing.T) {
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
	if _, err := provider.UpTo(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	columns := `id, kind, key, key_order, title, url, page, path, source, container, state, category, parent, author,
created_at, updated_at, last_activity_at, first_seen_at, starts_at, ends_at, views, replies, votes, hash, deleted_at,
folded, summary, data, body`
	_, err = db.ExecContext(t.Context(), `INSERT INTO records (`+columns+`) VALUES (1000007, 'doc', 'a', 'a', 'A',
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
