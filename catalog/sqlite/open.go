package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"

	"almanac/catalog/migrations"
	"almanac/catalog/sqlstore"
)

const (
	readers      = 8                // connections of the read pool
	prepareLimit = 30 * time.Second // to migrate the schema while other processes may do the same
)

// lockWait is how long a write waits for another process's transaction.
const lockWait = time.Minute

// Config locates the catalog.
type Config struct {
	Path string           // the database file; created with its directory if missing
	Now  func() time.Time // the clock; nil means time.Now
	// Sealed is why this process may only read the file and its directory: every write
	// fails with it. nil: it may write.
	Sealed error
}

// file is a catalog that is being opened.
type file struct {
	path   string
	writer *sql.DB // one connection
}

// Open opens the catalog, creates it if it is missing and migrates its schema.
// It fails with one sentence for the operator if the file is damaged, cannot be
// written, belongs to another program, was written by a newer version of this
// one, or is to be migrated while another process has it open. Any number of
// processes may open it at once.
func Open(ctx context.Context, cfg Config) (*sqlstore.Store, error) {
	path, err := filepath.Abs(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("catalog: open: %w", err)
	}
	if cfg.Sealed != nil {
		return openSealed(ctx, path, cfg)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("catalog: open: %w", err)
	}
	writer, err := pool(path, 1, "_txlock=immediate", pragma("busy_timeout(1000)"), pragma("cache_size(-16384)"))
	if err != nil {
		return nil, fmt.Errorf("catalog: open: %w", err)
	}
	reader, err := pool(path, readers, pragma("busy_timeout(10000)"), pragma("query_only(1)"), pragma("cache_size(-8192)"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("catalog: open: %w", err), writer.Close())
	}
	s := sqlstore.New(sqlstore.Config{
		Reader: reader, Reads: readers, Writer: writer, Now: cfg.Now,
		View: sql.TxOptions{ReadOnly: true}, Begin: begin, IDs: `SELECT value FROM json_each(?)`,
		Ping:    func(ctx context.Context) error { return ping(ctx, cfg, path) },
		Whole:   func(ctx context.Context) error { return Check(ctx, cfg) },
		Explain: func(err error) error { return explain(path, err) },
	})
	if err := (file{path, writer}).prepare(ctx); err != nil {
		return nil, errors.Join(sqlstore.Failure(ctx, "open", err, s.Explain), s.Close())
	}
	return s, nil
}

// begin takes the write lock. It polls instead of waiting inside SQLite, which
// does not notice a cancelled context.
func begin(ctx context.Context, writer *sql.DB) (*sql.Tx, error) {
	for deadline := time.Now().Add(lockWait); ; {
		tx, err := writer.BeginTx(ctx, nil)
		if err == nil || !busy(err) || ctx.Err() != nil || time.Now().After(deadline) {
			return tx, err
		}
	}
}

// pool returns a connection pool on the file.
func pool(path string, size int, parameters ...string) (*sql.DB, error) {
	connector, err := connect(path, parameters...)
	if err != nil {
		return nil, err
	}
	return pooled(connector, size), nil
}

// connect returns what connects to the file.
func connect(path string, parameters ...string) (driver.Connector, error) {
	dsn := "file://" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() +
		"?" + pragma("synchronous(NORMAL)") + "&" + pragma("temp_store(MEMORY)") +
		"&" + pragma("journal_size_limit(67108864)")
	for _, p := range parameters {
		dsn += "&" + p
	}
	return sqlite.NewConnector(dsn)
}

func pooled(connector driver.Connector, size int) *sql.DB {
	db := sql.OpenDB(preparing{connector})
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db
}

func pragma(p string) string { return "_pragma=" + url.QueryEscape(p) }

// prepare enables the write-ahead log and migrates, while no other process does.
// What is locked all the same, by a program that takes no turns, is tried again.
func (s file) prepare(ctx context.Context) (err error) {
	give, err := takeTurn(ctx, s.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, give()) }()
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

func (s file) migrate(ctx context.Context) error {
	newest := Newest()
	version, err := version(ctx, s.writer, s.path)
	switch {
	case err != nil:
		return err
	case version > newest:
		return &fileError{fmt.Errorf("%s has schema %d, this program supports %d: it was written by a newer version, "+
			"run that one", s.path, version, newest)}
	case version != 0 && version < newest:
		if err := s.upgrade(ctx, version, newest); err != nil {
			return err
		}
	}
	var mode string
	if err := s.writer.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return &fileError{fmt.Errorf("%s cannot have a write-ahead log (journal mode %q): put it on a local disk",
			s.path, mode)}
	}
	if version == 0 {
		return up(ctx, s.writer)
	}
	return s.writable(ctx)
}

// upgrade migrates an older catalog as the only one who has it open, since an
// older program that runs does not know the new schema. With a write-ahead log,
// every connection of whatever program holds a lock on the file as long as it
// lives: SQLite gives an exclusive one only where there is no other.
func (s file) upgrade(ctx context.Context, version, newest int64) (err error) {
	s.writer.SetMaxIdleConns(0) // which closes the connection that read the version
	defer s.writer.SetMaxIdleConns(1)
	alone, err := pool(s.path, 1, "_txlock=immediate", pragma("locking_mode(EXCLUSIVE)"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, alone.Close()) }()
	tx, err := alone.BeginTx(ctx, nil)
	switch {
	case busy(err):
		return &fileError{fmt.Errorf("an older almanac serves this directory: stop it first, or whatever else has %s "+
			"open, and run this again, which updates the file from schema %d to %d; nothing was changed",
			s.path, version, newest)}
	case err != nil:
		return err
	}
	return errors.Join(tx.Rollback(), up(ctx, alone))
}

// Newest returns the schema that this program writes.
func Newest() int64 {
	_, newest := migrations.Versions(migrations.SQLite())
	return newest
}

// up runs the migrations that are to come.
func up(ctx context.Context, db *sql.DB) error {
	provider, err := migrator(db)
	if err == nil {
		_, err = provider.Up(ctx)
	}
	return err
}

func migrator(db *sql.DB) (*goose.Provider, error) {
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, migrations.SQLite(),
		goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, &fileError{err}
	}
	return provider, nil
}

// writable fails if the file cannot be written, which SQLite only reports on a
// write.
func (s file) writable(ctx context.Context) error {
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	return tx.Rollback()
}

// version returns the schema's version: 0 for a new file. One that is too old to be updated is an error. It does not
// write.
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
	if oldest, _ := migrations.Versions(migrations.SQLite()); err == nil && number != 0 && number < oldest {
		return 0, &fileError{fmt.Errorf("%s has schema %d, from before almanac 0.2.0, and this program updates from schema "+
			"%d on: run `almanac search` of 0.2.0 once, or move the file away and sync again", path, number, oldest)}
	}
	return number, err
}

// retryAfter is how long one waits for the turn of another before it looks again.
const retryAfter = 25 * time.Millisecond

// takeTurn waits until no other process prepares the catalog. give ends the
// turn; the kernel does when the process ends. SQLite has no lock that spans the
// transactions of a migration, and whoever only looks at an older schema would
// keep another process from migrating it. Where the file that is locked cannot
// be had there are no turns: SQLite then says what is wrong with the directory.
func takeTurn(ctx context.Context, path string) (give func() error, err error) {
	f := flock.New(path+".lock", flock.SetFlag(os.O_RDONLY|os.O_CREATE), flock.SetPermissions(0o640))
	for deadline := time.Now().Add(lockWait); ; {
		held, err := f.TryLock()
		switch {
		case held || err != nil: // there is no such file, or the file system has no locks
			return f.Close, nil
		case time.Now().After(deadline):
			err = fmt.Errorf("another process has been updating %s for %v: try again when it has ended", path, lockWait)
			return nil, errors.Join(&fileError{err}, f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-time.After(retryAfter):
		}
	}
}
