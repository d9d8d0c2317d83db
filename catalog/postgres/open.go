package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"almanac/catalog"
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
func Open(ctx context.Context, cfg Config) (*sqlstore.Store, error) {
	to, err := parse(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("catalog: open: %w", err)
	}
	say := func(err error) error { return explain(nameOf(to), err) }
	reader := pool(to, readers)
	// What a process that was stopped left open is undone when its lease is over.
	to.RuntimeParams["idle_in_transaction_session_timeout"] = fmt.Sprint(term.Milliseconds())
	writer := pool(to, 1)
	leases := &locker{db: pool(to, 1), name: nameOf(to), holder: holderName(), term: term}
	s := sqlstore.New(sqlstore.Config{
		Reader: reader, Reads: readers, Writer: writer, Now: cfg.Now,
		View:  sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
		Begin: begin, Locker: leases, Fence: leases.fence, Leases: leases.db, Explain: say,
		IDs: `SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(? AS json))`,
		Ping: func(ctx context.Context) error {
			var one int // asked for: a connection that is idle says nothing
			return leases.db.QueryRowContext(ctx, `SELECT 1`).Scan(&one)
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
func (l *locker) Fits(ctx context.Context) error {
	return l.failure(ctx, "schema", fits(ctx, l.db, l.name))
}

// explain turns what the operator solves into a sentence. Codes are those of
// PostgreSQL's documentation, appendix A.
func explain(name string, err error) error {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return fmt.Errorf("%s cannot be opened: %s: %w", name, reason(err), catalog.ErrUnreachable)
	}
	e, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok && lost(err):
		return fmt.Errorf("%s was cut off: %w: %w", name, err, catalog.ErrUnreachable)
	case !ok:
		return err
	case strings.HasPrefix(e.Code, "57P"):
		return fmt.Errorf("%s is being stopped or started: %w: %w", name, err, catalog.ErrUnreachable)
	}
	var text string
	switch {
	case e.Code == "53100":
		text = "the disk of %s is full"
	case e.Code == "55P03":
		text = "%s stayed locked by another process"
	case e.Code == "25006":
		text = "%s takes no writes: it is a standby or read-only; name the primary in catalog.url"
	case e.Code == "42501":
		text = "the user of catalog.url may not write to %s: make it the owner of its schema"
	case e.Code == "53300":
		text = "%s has no connection left: raise max_connections"
	default:
		return err
	}
	return fmt.Errorf(text+": %w", name, err)
}

// lost reports whether a connection broke.
func lost(err error) bool {
	_, network := errors.AsType[*net.OpError](err)
	return network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) ||
		errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err)
}

// reason is why a connection failed, without the user's name. There is an error of each
// address and way to connect; the first is enough.
func reason(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Message
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		return e.Error()
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		return e.Error()
	}
	first, _, _ := strings.Cut(errors.Unwrap(err).Error(), "\n")
	return first
}

// pool returns connections to a database, which keep their statements prepared.
func pool(to *pgx.ConnConfig, size int) *sql.DB {
	db := sql.OpenDB(numbering{stdlib.GetConnector(*to.Copy())})
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	return db
}

// numbering makes connections that take statements with a ? for every value.
type numbering struct{ driver.Connector }

func (n numbering) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := n.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return connection{c.(*stdlib.Conn)}, nil
}

type connection struct{ *stdlib.Conn }

// QueryContext implements driver.QueryerContext.
func (c connection) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.QueryContext(ctx, numbered(query), args)
}

// ExecContext implements driver.ExecerContext.
func (c connection) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return c.Conn.ExecContext(ctx, numbered(query), args)
}

// known are the statements that were numbered, which are as many as the program has and
// those of lists of other lengths.
var known sync.Map // string → string

// numbered returns a statement with $1, $2 … for its parameters. As in SQLite, ?2 is the
// second, ? the one after the highest before it. The + of LIMIT +?, which SQLite needs, has
// no type here.
func numbered(query string) string {
	if n, ok := known.Load(query); ok {
		return n.(string)
	}
	var b strings.Builder
	highest, quoted := 0, false
	for rest := strings.ReplaceAll(query, "LIMIT +?", "LIMIT ?"); rest != ""; {
		ch := rest[0]
		rest = rest[1:]
		quoted = quoted != (ch == '\'')
		if ch != '?' || quoted {
			b.WriteByte(ch)
			continue
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.Atoi(rest[:digits])
		if err != nil {
			n = highest + 1
		}
		highest, rest = max(highest, n), rest[digits:]
		b.WriteString("$" + strconv.Itoa(n))
	}
	known.Store(query, b.String())
	return b.String()
}
