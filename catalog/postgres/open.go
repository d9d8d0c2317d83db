package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"almanac/catalog/migrations"
	"almanac/catalog/sqlstore"
)

const (
	readers = 8 // connections of the read pool
	// lockWait is how long a write waits for the transaction of another.
	lockWait       = time.Minute
	connectTimeout = 10 * time.Second
	oldest         = 130000 // version of the server, as server_version_num says it
)

// Config locates the catalog.
type Config struct {
	// URL is an address or a list of keywords and values, as libpq has them; what it
	// leaves out comes from the environment (PGPASSWORD, PGSSLROOTCERT and others).
	URL string
	Now func() time.Time // the clock; nil means time.Now
}

// Open opens the catalog and makes its tables, or brings them up to date, while no
// other process does. It fails with one sentence for the operator if the server cannot
// be reached, refuses the user, holds another program's tables or was written by a newer
// version of this one.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	to, err := parse(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("catalog: open: %w", err)
	}
	say := func(err error) error { return explain(nameOf(to), err) }
	reader := pool(to, readers)
	// What a process that was stopped left open is undone when its lease is over.
	to.RuntimeParams["idle_in_transaction_session_timeout"] = fmt.Sprint(term.Milliseconds())
	writer := pool(to, 1)
	s := &Store{leases: pool(to, 1), name: nameOf(to), holder: holderName(), term: term}
	s.Store = sqlstore.New(sqlstore.Config{
		Reader: reader, Reads: readers, Writer: writer, Now: cfg.Now,
		View:  sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
		Begin: begin, Fence: s.fence, Explain: say,
		IDs: `SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(? AS json))`,
		Ping: func(ctx context.Context) error {
			var one int // asked for: a connection that is idle says nothing
			return s.leases.QueryRowContext(ctx, `SELECT 1`).Scan(&one)
		},
	})
	if err := prepare(ctx, writer, nameOf(to)); err != nil {
		return nil, errors.Join(sqlstore.Failure(ctx, "open", err, say), s.Close())
	}
	return s, nil
}

// Check looks for records and passages that say something else than was written. It reads all of
// them, and readers and writers continue meanwhile.
func Check(ctx context.Context, url string) (err error) {
	to, err := parse(url)
	if err != nil {
		return fmt.Errorf("catalog: check: %w", err)
	}
	db := pool(to, 1)
	defer func() { err = errors.Join(err, db.Close()) }()
	err = sqlstore.CompareSums(ctx, db, nameOf(to))
	return sqlstore.Failure(ctx, "check", err, func(err error) error { return explain(nameOf(to), err) })
}

// Schema returns the schema of a catalog, 0 where there is none, and the one that Open brings it to. It changes nothing.
func Schema(ctx context.Context, url string) (has, newest int64, err error) {
	to, err := parse(url)
	if err != nil {
		return 0, 0, fmt.Errorf("catalog: schema: %w", err)
	}
	db := pool(to, 1)
	defer func() { err = errors.Join(err, db.Close()) }()
	var versioned int
	err = db.QueryRowContext(ctx, `SELECT COUNT(*) FROM information_schema.tables
WHERE table_schema = current_schema() AND table_name = ?`, goose.DefaultTablename).Scan(&versioned)
	if err == nil && versioned > 0 {
		err = db.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM `+goose.DefaultTablename).Scan(&has)
	}
	err = sqlstore.Failure(ctx, "schema", err, func(err error) error { return explain(nameOf(to), err) })
	_, newest = migrations.Versions(migrations.PostgreSQL())
	return has, newest, err
}

// parse reads an address. Its errors have no password.
func parse(url string) (*pgx.ConnConfig, error) {
	to, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("catalog.url: %w", err)
	}
	if to.ConnectTimeout == 0 {
		to.ConnectTimeout = connectTimeout
	}
	for name, value := range map[string]string{
		"application_name": "almanac", "lock_timeout": fmt.Sprint(lockWait.Milliseconds()),
	} {
		if to.RuntimeParams[name] == "" {
			to.RuntimeParams[name] = value
		}
	}
	return to, nil
}

// Name is what operators call the database of an address: without user and password.
func Name(url string) string {
	to, err := parse(url)
	if err != nil {
		return "the PostgreSQL database of catalog.url"
	}
	return nameOf(to)
}

// nameOf is what a database is called in errors: host and name, without a user.
func nameOf(to *pgx.ConnConfig) string {
	return fmt.Sprintf("the PostgreSQL database %s on %s", to.Database, to.Host)
}

// begin takes the row that every writer locks.
func begin(ctx context.Context, writer *sql.DB) (*sql.Tx, error) {
	tx, err := writer.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(ctx, `SELECT name FROM writers WHERE name = 'catalog' FOR UPDATE`); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

// prepare brings the schema up to date.
func prepare(ctx context.Context, db *sql.DB, name string) error {
	var encoding string
	var version, tables, versioned int
	err := db.QueryRowContext(ctx, `SELECT current_setting('server_encoding'),
	CAST(current_setting('server_version_num') AS INTEGER), COUNT(*), COUNT(CASE WHEN table_name = ? THEN 1 END)
FROM information_schema.tables WHERE table_schema = current_schema()`, goose.DefaultTablename).
		Scan(&encoding, &version, &tables, &versioned)
	switch {
	case err != nil:
		return err
	case encoding != "UTF8":
		return fmt.Errorf("%s has the encoding %s: make one with the encoding UTF8", name, encoding)
	case version < oldest:
		return fmt.Errorf("%s is on a server of version %d: version %d or newer is needed", name, version/10_000,
			oldest/10_000)
	case tables > 0 && versioned == 0:
		return fmt.Errorf("%s holds another program's tables: name a database, or a schema by search_path, that is empty",
			name)
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, migrations.PostgreSQL(),
		goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(locker))
	if err != nil {
		return err
	}
	has, newest, err := provider.GetVersions(ctx)
	first, _ := migrations.Versions(migrations.PostgreSQL())
	switch {
	case err != nil:
		return err
	case has != 0 && has < first:
		return fmt.Errorf("%s has schema %d, from before almanac 0.2.0, and this program updates from schema %d on: run "+
			"`almanac search` of 0.2.0 once, or name an empty database and sync again", name, has, first)
	case has > newest:
		return fits(ctx, db, name)
	case has < newest:
		_, err = provider.Up(ctx)
	}
	return err
}

// fits fails if the schema is of a newer program and one like this must not use it: a
// migration that does not say otherwise changes what older programs read.
func fits(ctx context.Context, db *sql.DB, name string) error {
	var has, oldest int64
	err := db.QueryRowContext(ctx, `SELECT (SELECT COALESCE(MAX(version_id), 0) FROM `+goose.DefaultTablename+`),
	CAST(COALESCE((SELECT value FROM meta WHERE name = 'schema.oldest'), '0') AS BIGINT)`).Scan(&has, &oldest)
	if _, known := migrations.Versions(migrations.PostgreSQL()); err == nil && has > known && (oldest == 0 || oldest > known) {
		err = fmt.Errorf("%s has schema %d, this program supports %d: it was written by a newer version, run that one",
			name, has, known)
	}
	return err
}

// Fits implements catalog.Locker.
func (s *Store) Fits(ctx context.Context) error {
	return sqlstore.Failure(ctx, "schema", fits(ctx, s.leases, s.name), s.Explain)
}
