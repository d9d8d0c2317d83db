package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Check reads the whole file of a catalog and looks for damage of its structure
// (PRAGMA quick_check), and for records that say something else than was written. A
// file that is missing or empty is no catalog. It takes some seconds per gigabyte, and
// readers and writers continue meanwhile.
func Check(ctx context.Context, path string) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("catalog: check: %w", err)
	}
	if _, err := os.Stat(path); err != nil { // it would be created
		return fmt.Errorf("catalog: check: %w", err)
	}
	db, err := pool(path, 1, pragma("query_only(1)"), pragma("busy_timeout(10000)"))
	if err != nil {
		return fmt.Errorf("catalog: check: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var found string
	err = db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("catalog: check: %w", ctx.Err())
	case err != nil:
		return fmt.Errorf("catalog: check: %w", explain(path, err))
	case found != "ok":
		return fmt.Errorf("catalog: check: %s is damaged (%s); move it away to start again, or put a copy in its place",
			path, strings.Join(strings.Fields(found), " "))
	}
	switch number, err := version(ctx, db, path); {
	case err != nil:
		return fmt.Errorf("catalog: check: %w", explain(path, err))
	case number == 0:
		return fmt.Errorf("catalog: check: %s is empty: put a copy in its place, or remove it to start again", path)
	case number < sums:
		return nil
	}
	if err = compareSums(ctx, db, path); err != nil {
		return fmt.Errorf("catalog: check: %w", err)
	}
	return nil
}

// sums is the first schema that has checksums.
const sums = 14

// compareSums compares what records say with their checksums.
func compareSums(ctx context.Context, db *sql.DB, path string) error {
	rows, err := db.QueryContext(ctx, `SELECT id, sum, `+saidColumns+` FROM records WHERE sum <> ''`)
	if err != nil {
		return explain(path, err)
	}
	defer rows.Close()
	var id int64
	var sum string
	texts := make([]string, strings.Count(saidColumns, ",")+1)
	to := []any{&id, &sum}
	for i := range texts {
		to = append(to, &texts[i])
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return err
		}
		if sumOf(texts) != sum {
			return fmt.Errorf("%s is damaged (record %d is not as it was written); move it away to start again, "+
				"or put a copy in its place", path, id)
		}
	}
	return rows.Err()
}
