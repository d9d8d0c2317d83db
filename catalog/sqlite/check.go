package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
)

// Check reads the whole file of a catalog and looks for damage of its structure
// (PRAGMA quick_check), and for records that say something else than was written. A
// file that is missing or empty is no catalog. It takes some seconds per gigabyte, and
// readers and writers continue meanwhile.
func Check(ctx context.Context, cfg Config) (err error) {
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return fmt.Errorf("catalog: check: %w", err)
	}
	if _, err := os.Stat(path); err != nil { // it would be created
		return fmt.Errorf("catalog: check: %w", err)
	}
	db, err := cfg.reader(path, pragma("query_only(1)"), pragma("busy_timeout(10000)"))
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
	if err = explain(path, sqlstore.CompareSums(ctx, db, path)); err != nil {
		return fmt.Errorf("catalog: check: %w", err)
	}
	return nil
}

// sums is the first schema that has checksums.
const sums = 14

// ping reads the schema and the end of the change log from the file: a new connection
// remembers no pages.
func ping(ctx context.Context, cfg Config, path string) (err error) {
	db, err := cfg.reader(path, pragma("query_only(1)"), pragma("busy_timeout(1000)"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	number, err := version(ctx, db, path)
	if err == nil && number == 0 {
		return fmt.Errorf("%s is empty: %w", path, catalog.ErrDamaged)
	}
	if err == nil {
		var newest int64
		err = db.QueryRowContext(ctx, `SELECT COALESCE(MAX(seq), 0) FROM changes`).Scan(&newest)
	}
	return err
}
