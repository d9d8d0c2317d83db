package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
)

// Check reads the whole file of a catalog and looks for damage of its structure
// (PRAGMA quick_check), and for records and passages that say something else than was written. A
// file that is missing or empty is no catalog. It takes some seconds per gigabyte, and
// readers and writers continue meanwhile.
func Check(ctx context.Context, cfg Config) error {
	return cfg.look(ctx, "check", func(db *sql.DB, path string) error {
		var found string
		err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found)
		switch {
		case err != nil:
			return err
		case found != "ok":
			return fmt.Errorf("%s is damaged (%s); move it away to start again, or put a copy in its place", path,
				strings.Join(strings.Fields(found), " "))
		}
		switch number, err := version(ctx, db, path); {
		case err != nil:
			return err
		case number == 0:
			return fmt.Errorf("%s is empty: put a copy in its place, or remove it to start again", path)
		}
		return sqlstore.CompareSums(ctx, db, path)
	})
}

// object is what a schema has: a table, an index, a view or a trigger.
type object struct{ kind, name, sql string }

// objects returns the objects of a database. Statistics of the query planner are no part of its schema.
func objects(ctx context.Context, db *sql.DB) (all []object, err error) {
	rows, err := db.QueryContext(ctx, `SELECT type, name, COALESCE(sql, '') FROM sqlite_master
		WHERE type <> 'table' OR name NOT IN ('sqlite_stat1', 'sqlite_stat4')`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var o object
		if err := rows.Scan(&o.kind, &o.name, &o.sql); err != nil {
			return nil, err
		}
		if o.name == goose.DefaultTablename && o.kind == "table" {
			o.sql = "" // as that version of the library makes it
		}
		all = append(all, o)
	}
	return all, rows.Err()
}

// CheckSchema fails if a catalog has an object that the migrations to its schema do not make, before any of
// its rows is read: SQLite runs views and triggers, whoever wrote them. A file without a schema has none.
func CheckSchema(ctx context.Context, path string) error {
	return Config{Path: path}.look(ctx, "check", func(db *sql.DB, path string) error {
		number, err := version(ctx, db, path)
		if err != nil {
			return err
		}
		found, err := objects(ctx, db)
		var made []object
		if err == nil && number > 0 {
			made, err = objectsOf(ctx, number)
		}
		if err != nil {
			return err
		}
		for _, o := range found {
			if !slices.Contains(made, o) {
				return fmt.Errorf("%s has a %s %q, which no almanac makes so", path, o.kind, o.name)
			}
		}
		return nil
	})
}

// objectsOf returns the objects that the migrations to a schema make.
func objectsOf(ctx context.Context, number int64) (made []object, err error) {
	connector, err := sqlite.NewConnector(":memory:")
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // each has a database of its own
	provider, err := migrator(db)
	if err == nil {
		_, err = provider.UpTo(ctx, number)
	}
	if err != nil {
		return nil, err
	}
	return objects(ctx, db)
}

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
