package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	lib "modernc.org/sqlite/lib"
)

// ErrOpen: another process has the file open.
var ErrOpen = errors.New("another process has it open")

// reader opens the file at a path to look at it, without a trace if it is sealed.
func (c Config) reader(path string, parameters ...string) (*sql.DB, error) {
	if c.Sealed != nil {
		return pooled(sealed{path}, 1), nil
	}
	return pool(path, 1, parameters...)
}

// look opens the file of a catalog, has fn look at it, and closes it. A file that is missing is not made. Errors are of
// the operation.
func (c Config) look(ctx context.Context, op string, fn func(db *sql.DB, path string) error) error {
	err := c.looked(fn)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return fmt.Errorf("catalog: %s: %w", op, err)
}

func (c Config) looked(fn func(db *sql.DB, path string) error) (err error) {
	path, err := filepath.Abs(c.Path)
	if err == nil {
		_, err = os.Stat(path) // it would be created
	}
	if err != nil {
		return err
	}
	db, err := c.reader(path, pragma("query_only(1)"), pragma("busy_timeout(10000)"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return explain(path, fn(db, path))
}

// Copy writes a database of SQLite, as it is at one moment, into a file that does not
// exist. Readers and writers continue meanwhile.
func Copy(ctx context.Context, cfg Config, to string) error {
	return cfg.look(ctx, "copy", func(db *sql.DB, _ string) (err error) {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, conn.Close()) }()
		if _, err := conn.ExecContext(ctx, `PRAGMA query_only = 0`); err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, `VACUUM INTO ?`, to)
		return err
	})
}

// Describe returns the schema of a catalog that nobody has open, and a value of its
// metadata. It changes nothing.
func Describe(ctx context.Context, path, name string) (schema int64, value string, err error) {
	err = Config{Path: path}.look(ctx, "describe", func(db *sql.DB, path string) error {
		if schema, err = version(ctx, db, path); err != nil || schema == 0 {
			return err
		}
		err := db.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = ?`, name).Scan(&value)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return schema, value, err
}

// Schema returns the schema of a catalog, 0 for a file that is missing or empty, and the one that Open updates it to.
// It changes nothing, whoever has the file open.
func Schema(ctx context.Context, cfg Config) (has, newest int64, err error) {
	err = cfg.look(ctx, "schema", func(db *sql.DB, path string) error {
		has, err = version(ctx, db, path)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return has, Newest(), err
}

// Alone does something to a catalog while no other process has it open, nor opens it;
// ErrOpen. What its write-ahead log has is in the file before, and no log is left. A file
// that is missing, or that SQLite cannot read, is left as it is, and its log removed.
func Alone(ctx context.Context, path string, do func() error) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	give, err := takeTurn(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, give()) }()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return errors.Join(RemoveLog(path), do())
	}
	alone, err := pool(path, 1, "_txlock=immediate", pragma("locking_mode(EXCLUSIVE)"), pragma("busy_timeout(1000)"))
	if err != nil {
		return fmt.Errorf("catalog: %w", err)
	}
	defer func() { err = errors.Join(err, alone.Close()) }()
	err = emptyLog(ctx, alone)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case busy(err):
		return fmt.Errorf("%s: %w", path, ErrOpen)
	case damaged(err):
		err = RemoveLog(path)
	}
	if err != nil {
		return fmt.Errorf("catalog: %w", explain(path, err))
	}
	return do()
}

// damaged reports whether SQLite cannot read a file because of what is in it.
func damaged(err error) bool {
	c := code(err) & 0xff
	return c == lib.SQLITE_NOTADB || c == lib.SQLITE_CORRUPT
}

// emptyLog ends the write-ahead log, which only the one who has the file alone can.
func emptyLog(ctx context.Context, alone *sql.DB) error {
	tx, err := alone.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := tx.Rollback(); err != nil {
		return err
	}
	var mode string
	err = alone.QueryRowContext(ctx, `PRAGMA journal_mode = DELETE`).Scan(&mode)
	if err == nil && mode != "delete" {
		err = fmt.Errorf("the journal mode stays %q", mode)
	}
	return err
}

// RemoveLog removes the write-ahead log of a file of SQLite that nobody has open.
func RemoveLog(path string) error {
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
