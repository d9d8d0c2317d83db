package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"almanac/catalog/migrations"
)

const (
	readers      = 8                // connections of the read pool
	prepareLimit = 30 * time.Second // to migrate the schema while other processes may do the same
	retryAfter   = 25 * time.Millisecond
)

// Open opens the catalog, creates it if it is missing and migrates its schema.
// It fails with one sentence for the operator if the file is damaged, cannot be
// written, belongs to another program or was written by a newer version of this
// one. Any number of processes may open it at once.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("catalog: open: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("catalog: open: %w", err)
	}
	s := &Store{path: path, now: cfg.Now, turns: turns{free: readers}}
	if s.now == nil {
		s.now = time.Now
	}
	if s.writer, err = pool(path, 1, "_txlock=immediate", pragma("busy_timeout(1000)"),
		pragma("cache_size(-16384)")); err != nil {
		return nil, fmt.Errorf("catalog: open: %w", err)
	}
	if s.reader, err = pool(path, readers, pragma("busy_timeout(10000)"), pragma("query_only(1)"),
		pragma("cache_size(-8192)")); err != nil {
		return nil, errors.Join(fmt.Errorf("catalog: open: %w", err), s.writer.Close())
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(s.failure(ctx, "open", err), s.Close())
	}
	return s, nil
}

// pool returns a connection pool on the file.
func pool(path string, size int, parameters ...string) (*sql.DB, error) {
	dsn := "file://" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() +
		"?" + pragma("synchronous(NORMAL)") + "&" + pragma("temp_store(MEMORY)") +
		"&" + pragma("journal_size_limit(67108864)")
	for _, p := range parameters {
		dsn += "&" + p
	}
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(preparing{connector})
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db, nil
}

func pragma(p string) string { return "_pragma=" + url.QueryEscape(p) }

// prepare enables the write-ahead log and migrates. SQLite has no lock that
// spans transactions: if several processes start at once, one wins and the
// others fail on a step that is already done; they retry and find the migration
// finished.
func (s *Store) prepare(ctx context.Context) error {
	for deadline := time.Now().Add(prepareLimit); ; {
		err := explain(s.path, s.migrate(ctx))
		var permanent *fileError
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		if errors.As(err, &permanent) && !busy(err) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

func (s *Store) migrate(ctx context.Context) error {
	provider, err := goose.NewProvider(goose.DialectSQLite3, s.writer, migrations.SQLite(),
		goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return &fileError{err}
	}
	sources := provider.ListSources()
	newest := sources[len(sources)-1].Version
	version, err := version(ctx, s.writer, s.path)
	switch {
	case err != nil:
		return err
	case version > newest:
		return &fileError{fmt.Errorf("%s has schema %d, this program supports %d: it was written by a newer version, "+
			"run that one", s.path, version, newest)}
	}
	var mode string
	if err := s.writer.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return &fileError{fmt.Errorf("%s cannot have a write-ahead log (journal mode %q): put it on a local disk",
			s.path, mode)}
	}
	if version == newest {
		return s.writable(ctx)
	}
	_, err = provider.Up(ctx)
	return err
}

// writable fails if the file cannot be written, which SQLite only reports on a
// write.
func (s *Store) writable(ctx context.Context) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return tx.Rollback()
}

// version returns the schema's version: 0 for a new file. It does not write.
func version(ctx context.Context, db *sql.DB, path string) (int64, error) {
	var tables, versioned int
	err := db.QueryRowContext(ctx,
		`SELECT COUNT(*), COUNT(CASE WHEN name = ? THEN 1 END) FROM sqlite_master WHERE type = 'table'`,
		goose.DefaultTablename).Scan(&tables, &versioned)
	switch {
	case err != nil:
		return 0, err
	case tables == 0:
		return 0, nil
	case versioned == 0:
		return 0, &fileError{fmt.Errorf("%s is another program's database", path)}
	}
	var number int64
	err = db.QueryRowContext(ctx,
		`SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&number)
	return number, err
}
