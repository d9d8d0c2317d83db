package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
)

// sealed opens a catalog that this process may only read; the test's end closes it.
func sealed(t *testing.T, path string) *sqlstore.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Sealed: errSealed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// examined is what one who may only read a catalog hears of its schema, of a check and of
// a copy: a line each.
func examined(t *testing.T, path, to string) string {
	t.Helper()
	ctx, cfg := t.Context(), sqlite.Config{Path: path, Sealed: errSealed}
	_, _, err := sqlite.Schema(ctx, cfg)
	return fmt.Sprintf("schema: %v\ncheck: %v\ncopy: %v\n", err, sqlite.Check(ctx, cfg), sqlite.Copy(ctx, cfg, to))
}

// allWell is what examined says of a catalog with which nothing is wrong.
const allWell = "schema: <nil>\ncheck: <nil>\ncopy: <nil>\n"

// refused checks why a catalog that may only be read is not opened.
func refused(t *testing.T, path, want string) error {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Sealed: errSealed})
	if err == nil {
		s.Close()
	}
	oneLine(t, err, path, want)
	return err
}

func TestASealedCatalogIsReadAndStaysAsItIs(t *testing.T) {
	path := filled(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	beside, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	s := sealed(t, path)
	if _, total, err := s.List(t.Context(), catalog.ListQuery{WithBody: true}); total != 2*batchSize || err != nil {
		t.Errorf("it has %d records, %v", total, err)
	}
	for name, err := range map[string]error{
		"a value":   s.SetMeta(t.Context(), "colour", "red"),
		"a batch":   write(s, "mail", 1, nil),
		"a request": func() error { _, err := s.Enqueue(t.Context(), catalog.Request{Kind: "sync"}); return err }(),
	} {
		if !errors.Is(err, errSealed) {
			t.Errorf("%s: error is %v, want why nothing may be written", name, err)
		}
	}
	to := file(t)
	if said := examined(t, path, to); said != allWell {
		t.Errorf("it is said %s", said)
	}
	agrees(t, to, "docs")
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("it was changed: %v", err)
	}
	if now, err := os.ReadDir(filepath.Dir(path)); err != nil || len(now) != len(beside) {
		t.Errorf("beside it are %v now, not %v; %v", now, beside, err)
	}
}

func TestASealedCatalogThatCannotBeReadSaysWhy(t *testing.T) {
	t.Run("it is missing", func(t *testing.T) {
		path := file(t)
		if err := refused(t, path, "no such file"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("error is %v", err)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it was made: %v", err)
		}
	})
	t.Run("its schema is older, and cannot be updated", func(t *testing.T) {
		if err := refused(t, older(t), "the file cannot be updated"); !errors.Is(err, errSealed) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("its schema is newer", func(t *testing.T) {
		path := filled(t)
		execute(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9000, 1)`)
		refused(t, path, "has schema 9000, this program reads")
	})
	t.Run("it is no database", func(t *testing.T) {
		refused(t, written(t, notSQLite), "is not a SQLite database or is damaged")
	})
	t.Run("its log has no index, which nobody but the owner can make", func(t *testing.T) {
		path := killed(t)
		if err := os.Remove(path + "-shm"); err != nil {
			t.Fatal(err)
		}
		refused(t, path, "what was written last lies in "+path+"-wal")
		to := file(t)
		said := examined(t, path, to)
		if strings.Count(said, "has to run any command of almanac once\n") != 3 {
			t.Errorf("it is said %s", said)
		}
		if _, err := os.Stat(to); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a copy without what was written last was made: %v", err)
		}
	})
}

// An operator who stops a check is not told that the file is damaged.
func TestACheckThatIsStoppedFindsNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sqlite.Check(ctx, sqlite.Config{Path: filled(t)}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// TestDamageBesideTheRecordsIsFound: of what all queries answer as ever.
func TestDamageBesideTheRecordsIsFound(t *testing.T) {
	path := filled(t)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte{0, 0, 0, 7}, 36) // pages that are free, by the header
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	agrees(t, path, "docs")
	oneLine(t, sqlite.Check(t.Context(), sqlite.Config{Path: path}), path, "is damaged (")
}
