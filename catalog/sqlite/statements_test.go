package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
)

// TestPreparedStatements asks one connection the same and other questions, one
// inside the other, and more of them than it keeps.
func TestPreparedStatements(t *testing.T) {
	db, err := pool(filepath.Join(t.TempDir(), "catalog.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE n (n INTEGER); INSERT INTO n VALUES (1), (2), (3)`); err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	const pairs = `SELECT n FROM n WHERE n >= ? ORDER BY n`
	for round := range 2 {
		var got []int
		outer, err := tx.Query(pairs, 2)
		if err != nil {
			t.Fatal(err)
		}
		for outer.Next() {
			inner, err := tx.Query(pairs, 1) // while the outer rows are being read
			if err != nil {
				t.Fatal(err)
			}
			var a int
			if err := outer.Scan(&a); err != nil {
				t.Fatal(err)
			}
			for inner.Next() {
				var b int
				if err := inner.Scan(&b); err != nil {
					t.Fatal(err)
				}
				got = append(got, 10*a+b)
			}
			if err := inner.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := outer.Close(); err != nil {
			t.Fatal(err)
		}
		if want := "[21 22 23 31 32 33]"; fmt.Sprint(got) != want {
			t.Errorf("round %d: %v, want %s", round, got, want)
		}
	}
	for n := range 2 * maxStatements {
		var got int
		if err := tx.QueryRow(fmt.Sprintf(`SELECT %d + MAX(n) FROM n`, n)).Scan(&got); err != nil || got != n+3 {
			t.Fatalf("%d: %d, %v", n, got, err)
		}
	}
}

// TestPreparedStatementsSurviveAChangeOfTheSchema asks before and after.
func TestPreparedStatementsSurviveAChangeOfTheSchema(t *testing.T) {
	db, err := pool(filepath.Join(t.TempDir(), "catalog.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for n, change := range []string{`CREATE TABLE n (n INTEGER)`, `ALTER TABLE n ADD COLUMN m INTEGER DEFAULT 7`,
		`DROP TABLE n`, `CREATE TABLE n (n INTEGER, m INTEGER, o INTEGER)`} {
		if _, err := db.Exec(change); err != nil {
			t.Fatal(err)
		}
		rows, err := db.Query(`SELECT * FROM n`)
		if n == 2 {
			if err == nil {
				t.Error("a table that was dropped has rows")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if want := []int{1, 2, 0, 3}[n]; err != nil || len(columns) != want {
			t.Errorf("after %s: %q, %v; want %d columns", change, columns, err, want)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMoreStatementsThanAreKeptAreAnswered reads from as many as a connection keeps at
// once, so that none can be closed for another.
func TestMoreStatementsThanAreKeptAreAnswered(t *testing.T) {
	db, err := pool(filepath.Join(t.TempDir(), "catalog.db"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE n (n INTEGER); INSERT INTO n VALUES (1), (2)`); err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	open := make([]*sql.Rows, maxStatements)
	for i := range open {
		if open[i], err = conn.QueryContext(t.Context(), fmt.Sprintf(`SELECT %d + n FROM n ORDER BY n`, i)); err != nil {
			t.Fatal(err)
		}
		defer open[i].Close()
	}
	var got int
	if err := conn.QueryRowContext(t.Context(), `SELECT MAX(n) FROM n WHERE n < ?`, 2).Scan(&got); err != nil || got != 1 {
		t.Errorf("one more query: %d, %v", got, err)
	}
	if err := conn.Raw(func(c any) error {
		if n := len(c.(*connection).prepared); n != maxStatements {
			t.Errorf("%d are kept", n)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), `INSERT INTO n VALUES (?)`, 3); err != nil {
		t.Errorf("one more write: %v", err)
	}
	if _, err := conn.ExecContext(t.Context(), `INSERT INTO lamps VALUES (?)`, 3); err == nil {
		t.Error("a table that is missing was written to")
	}
	for i, rows := range open {
		if !rows.Next() || rows.Scan(&got) != nil || got != i+1 {
			t.Fatalf("the query that was open as number %d: %d, %v", i, got, rows.Err())
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.ExecContext(t.Context(), `INSERT INTO lamps VALUES (?)`, 3); err == nil {
		t.Error("a table that is missing was written to")
	}
	if err := conn.QueryRowContext(t.Context(), `SELECT MAX(n) FROM n WHERE n < ?`, 9).Scan(&got); err != nil || got != 3 {
		t.Errorf("after one that failed: %d, %v", got, err)
	}
}
