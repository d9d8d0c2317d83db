package sqlite_test

import (
	"database/sql"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
)

func TestCheckFindsDamage(t *testing.T) {
	path := filled(t)
	if err := sqlite.Check(t.Context(), sqlite.Config{Path: path}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for page := 1; page < len(data)/4096; page++ { // the header of each page but the first
		for i := range 16 {
			data[page*4096+i] = byte(random.Uint32())
		}
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sqlite.Check(t.Context(), sqlite.Config{Path: path}); err == nil || !strings.Contains(err.Error(), "is damaged") ||
		!strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

// TestCheckComparesTexts: a changed text is a wrong answer, and no damage of the
// structure.
func TestCheckComparesTexts(t *testing.T) {
	for change, want := range map[string]string{
		`UPDATE records SET body = replace(body, ' ', '-') WHERE id = (SELECT MAX(id) FROM records)`: "record ",
		`UPDATE passages SET text = 'four of the thirteen'`:                                          "passage 7 is",
		`UPDATE passages SET heading = 'Four'`:                                                       "passage 7 is",
		`UPDATE documents SET data = x'00'`:                                                          "document 1000000 is",
	} {
		path := filled(t)
		if err := inCatalog(path, func(s *sqlstore.Store) error {
			g, err := s.OpenGeneration(t.Context(), "a")
			if err != nil {
				return err
			}
			return s.PutPassages(t.Context(), g.ID, catalog.IndexBatch{Checkpoint: 1, Records: []catalog.RecordPassages{{
				Record: 1000000, Document: "counts",
				Passages: []catalog.Passage{{ID: 7, Heading: "Votes", Text: "nine of the thirteen"}},
			}}})
		}); err != nil {
			t.Fatal(err)
		}
		if err := sqlite.Check(t.Context(), sqlite.Config{Path: path}); err != nil {
			t.Errorf("as it was written: %v", err)
		}
		execute(t, path, change)
		if err := sqlite.Check(t.Context(), sqlite.Config{Path: path}); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "not as it was written") || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", change, err)
		}
	}
}

// TestCheckTakesOlderCatalogs: of every schema that there was.
func TestCheckTakesOlderCatalogs(t *testing.T) {
	path := file(t)
	db, provider := migrator(t, path)
	for _, source := range provider.ListSources() {
		if _, err := provider.UpTo(t.Context(), source.Version); err != nil {
			t.Fatal(err)
		}
		if err := sqlite.Check(t.Context(), sqlite.Config{Path: path}); err != nil {
			t.Errorf("schema %d: %v", source.Version, err)
		}
		if err := sqlite.CheckSchema(t.Context(), path); err != nil {
			t.Errorf("schema %d: %v", source.Version, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestASchemaHasNothingOfItsOwn: SQLite runs what a file's schema says.
func TestASchemaHasNothingOfItsOwn(t *testing.T) {
	for _, add := range []string{
		`CREATE TRIGGER more AFTER INSERT ON searches BEGIN DELETE FROM records; END`,
		`CREATE VIEW more AS SELECT 1`,
		`CREATE TABLE more (a)`,
		`CREATE INDEX more ON records (title)`,
		`ALTER TABLE clicks RENAME TO more`,
		`ALTER TABLE records ADD COLUMN more TEXT GENERATED ALWAYS AS (upper(title)) VIRTUAL`,
	} {
		path := filled(t)
		execute(t, path, add)
		if err := sqlite.CheckSchema(t.Context(), path); err == nil || !strings.Contains(err.Error(), "which no almanac makes so") {
			t.Errorf("%s: %v", add, err)
		}
	}
	path := filled(t)
	execute(t, path, `ANALYZE`) // by an operator
	if err := sqlite.CheckSchema(t.Context(), path); err != nil {
		t.Error(err)
	}
}

// TestATombstoneSaysNothing: what a source withdrew is not kept.
func TestATombstoneSaysNothing(t *testing.T) {
	path := file(t)
	err := inCatalog(path, func(s *sqlstore.Store) error {
		if err := write(s, "docs", 1, nil); err != nil {
			return err
		}
		list, _, err := s.List(t.Context(), catalog.ListQuery{})
		if err == nil && len(list) > 0 {
			_, err = s.Apply(t.Context(), catalog.Batch{Source: "docs", Delete: []int64{list[0].ID}})
		}
		return err
	})
	db, openErr := sql.Open("sqlite", path)
	if err = errors.Join(err, openErr); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var dead, said int
	if err := db.QueryRowContext(t.Context(), `SELECT COUNT(*), SUM(length(title || url || path || author || folded || summary || `+
		`data || body)) FROM records WHERE deleted_at <> 0`).Scan(&dead, &said); err != nil || dead != 1 || said != 0 {
		t.Errorf("%d tombstones say %d characters, %v", dead, said, err)
	}
}

// TestCheckWantsACatalog holds that a missing file is not made, and that one without
// a catalog in it is refused.
func TestCheckWantsACatalog(t *testing.T) {
	path := file(t)
	if err := sqlite.Check(t.Context(), sqlite.Config{Path: path}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for name, content := range map[string][]byte{"is empty": nil, "is not a SQLite database": make([]byte, 8192)} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := sqlite.Check(t.Context(), sqlite.Config{Path: path}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
