package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
)

// fails opens the file and checks that the error is one line that names it
// and says what is wrong.
func fails(t *testing.T, path, want string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
	if err == nil {
		s.Close()
		t.Fatal("it opened")
	}
	if text := err.Error(); !strings.Contains(text, want) || !strings.Contains(text, path) ||
		strings.Contains(text, "\n") {
		t.Fatalf("error is %q, want one line with the path and %q", text, want)
	}
}

// execute runs a statement on the file from outside.
func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// filled makes a catalog with a few records and closes it.
func filled(t *testing.T) string {
	t.Helper()
	path := file(t)
	if err := inCatalog(path, func(s *sqlstore.Store) error { return write(s, "docs", 3, nil) }); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpen(t *testing.T) {
	t.Run("a file that is not a database is refused and left alone", func(t *testing.T) {
		path, text := file(t), strings.Repeat("this is not a database. ", 100)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		fails(t, path, "is not a SQLite database or is damaged")
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Fatalf("the file was changed: %v", err)
		}
	})
	t.Run("a truncated file is refused", func(t *testing.T) {
		path := filled(t)
		if err := os.Truncate(path, 5000); err != nil {
			t.Fatal(err)
		}
		fails(t, path, "damaged")
	})
	t.Run("a newer schema is refused and left alone", func(t *testing.T) {
		path := filled(t)
		execute(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, 1)`)
		fails(t, path, "has schema 9000, this program supports")
		execute(t, path, `DELETE FROM goose_db_version WHERE version_id = 9000`)
		open(t, path)
	})
	t.Run("another program's database is refused", func(t *testing.T) {
		path := file(t)
		execute(t, path, `CREATE TABLE bookmarks (url TEXT)`)
		fails(t, path, "another program's database")
	})
	t.Run("a directory in the file's place is refused", func(t *testing.T) {
		fails(t, t.TempDir(), "cannot be opened")
	})
	t.Run("a file in the directory's place is refused", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(path, "catalog.db")}); err == nil ||
			!strings.Contains(err.Error(), path+": not a directory") {
			t.Fatalf("error is %v", err)
		}
	})
	t.Run("missing directories are made", func(t *testing.T) {
		open(t, filepath.Join(t.TempDir(), "a", "b", "catalog.db"))
	})
	t.Run("every file name works", func(t *testing.T) {
		for _, name := range []string{"with space", "q?mode=ro", "h#ash", "per%20cent", "żółć", "a&b=c", "semi;colon",
			"quote'"} {
			dir := filepath.Join(t.TempDir(), name)
			open(t, filepath.Join(dir, name+".db"))
			if _, err := os.Stat(filepath.Join(dir, name+".db")); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("a relative path stays where it was", func(t *testing.T) {
		t.Chdir(t.TempDir())
		s := open(t, "catalog.db")
		t.Chdir(t.TempDir())
		if err := s.SetMeta(t.Context(), "k", "v"); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a cancelled context opens nothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if s, err := sqlite.Open(ctx, sqlite.Config{Path: file(t)}); err == nil {
			s.Close()
			t.Fatal("it opened")
		}
	})
	t.Run("what was written is there after opening again", func(t *testing.T) {
		path := filled(t)
		agrees(t, path, "docs")
	})
}

// TestPingSeesDamage damages the file below an open catalog, has it read as answers read it,
// and puts what it held back.
func TestPingSeesDamage(t *testing.T) {
	for name, damage := range map[string]func(f *os.File, size int64) error{
		"truncated":   func(f *os.File, _ int64) error { return f.Truncate(0) },
		"cut in half": func(f *os.File, size int64) error { return f.Truncate(size / 2) },
		"its head overwritten": func(f *os.File, _ int64) error {
			_, err := f.WriteAt(make([]byte, 8192), 0)
			return err
		},
		"its body overwritten": func(f *os.File, size int64) error {
			_, err := f.WriteAt(bytes.Repeat([]byte{0xaa}, int(size-40_960)), 40_960)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filled(t)
				s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				if err := s.Ping(t.Context()); err != nil {
					t.Fatal(err)
				}
				held, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				f, err := os.OpenFile(path, os.O_RDWR, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if err := damage(f, int64(len(held))); err != nil {
					t.Fatal(err)
				}
				if _, _, err := s.List(t.Context(), catalog.ListQuery{WithBody: true}); !errors.Is(err, catalog.ErrDamaged) {
					time.Sleep(time.Second) // the next ping asks itself
				}
				if err := s.Ping(t.Context()); !errors.Is(err, catalog.ErrDamaged) {
					t.Errorf("it says %v", err)
				}
				if _, err := f.WriteAt(held, 0); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				if err := s.Ping(t.Context()); err != nil {
					t.Errorf("afterwards it says %v", err)
				}
			})
		})
	}
}

func TestListsUseIndexes(t *testing.T) {
	path := filled(t)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const live = `deleted_at = 0 AND `
	for _, c := range []struct{ where, index string }{
		{live + `kind IN ('doc') ORDER BY key_order, id LIMIT 20`, "records_by_key"},
		{live + `kind IN ('doc') AND folded LIKE '%x%' ESCAPE '\' ORDER BY key_order, id LIMIT 20`,
			"COVERING INDEX records_by_key"},
		{live + `kind IN ('doc') AND lower(state) IN (lower('x'))`, "records_by_state"},
		{live + `kind IN ('doc') AND lower(state) IN (lower('x')) ORDER BY created_at DESC, id LIMIT 20`,
			"records_by_state"},
		{live + `kind IN ('doc') AND lower(container) IN (lower('x'))`, "records_by_container"},
		{live + `kind IN ('doc') ORDER BY created_at DESC, id LIMIT 20`, "records_by_created"},
		{live + `kind IN ('doc') ORDER BY last_activity_at DESC, id LIMIT 20`, "records_by_activity"},
		{live + `created_at <> 0 AND created_at >= 5 ORDER BY created_at DESC, id LIMIT 20`, "records_created"},
		{live + `1 = 1 ORDER BY first_seen_at DESC, id LIMIT 20`, "records_first_seen"},
		{live + `kind IN ('post') AND parent = 5 AND parent <> 0 ORDER BY key_order, id`, "records_by_parent"},
		{live + `kind IN ('post') AND parent = 5 AND parent <> 0 ORDER BY created_at DESC, id`, "records_by_parent"},
		{live + `parent = 5 AND parent <> 0 ORDER BY created_at DESC, id`, "records_by_parent"},
		{live + `source IN ('docs')`, "records_by_source"},
		{live + `path = 'x' AND path <> '' ORDER BY id`, "records_by_path"},
		{live + `author = 'x' AND author <> '' ORDER BY created_at DESC, id`, "records_by_author"},
		{live + `id IN (SELECT record FROM record_tags WHERE tag IN ('x')) ORDER BY key_order, id`,
			"record_tags_by_tag"},
		{live + `kind IN ('issue') AND updated_at <> 0 AND updated_at >= 5 ORDER BY updated_at DESC, id LIMIT 20`,
			"records_by_updated"},
		{live + `kind IN ('issue') AND parent = 0 AND replies = 0 ORDER BY views DESC, id LIMIT 20`,
			"records_unanswered"},
		{live + `kind IN ('issue') AND (CASE WHEN body = '' THEN 0 ELSE 1 END) = 1 ORDER BY created_at DESC, id LIMIT 20`,
			"records_by_body"},
		{live + `kind IN ('doc') AND folded LIKE '%' ESCAPE '\' ORDER BY key_order, id LIMIT 20`,
			"COVERING INDEX records_by_key"},
		{live + `id IN (SELECT record FROM links WHERE (to_kind = 'cip' AND to_key IN ('a', 'b') AND record <> 7)
OR (to_kind = 'doc' AND to_key IN ('c') AND record <> 8)) ORDER BY key_order, id`, "links_by_target"},
		{`kind = 'doc' AND key IN ('a', 'b')`, "sqlite_autoindex_records_1"},
		{live + `kind IN ('doc', 'cip', 'faq') AND key IN ('a', 'b')`, "sqlite_autoindex_records_1"},
		{live + `path <> '' AND path IN ('x', 'y')`, "records_by_path"},
		{live + `url <> '' AND url IN ('x', 'y')`, "records_by_url"},
		{live + `id IN (1, 2, 3)`, "INTEGER PRIMARY KEY"},
	} {
		plan := explain(t, db, `SELECT id FROM records WHERE `+c.where)
		if !strings.Contains(plan, c.index) {
			t.Errorf("%s\nruns without %s:\n%s", c.where, c.index, plan)
		}
		if strings.Contains(c.where, "LIMIT") && strings.Contains(plan, "TEMP B-TREE FOR ORDER BY") { // ties by id may
			t.Errorf("%s\nsorts:\n%s", c.where, plan)
		}
	}
}

func explain(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, detail)
	}
	return strings.Join(plan, "\n")
}
