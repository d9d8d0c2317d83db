package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"almanac/catalog"
)

// LockWait is how long a write waits for another process's transaction.
const LockWait = time.Minute

// Config locates the catalog.
type Config struct {
	Path string           // the database file; created with its directory if missing
	Now  func() time.Time // the clock; nil means time.Now
}

// Store is a catalog in a SQLite file. It is safe for concurrent use.
type Store struct {
	path   string
	now    func() time.Time
	reader *sql.DB
	turns  turns   // on the reader
	writer *sql.DB // one connection
}

var _ catalog.Store = (*Store)(nil)

// Close waits for the running statements and closes the file.
func (s *Store) Close() error {
	return errors.Join(s.reader.Close(), s.writer.Close())
}

func (s *Store) failure(ctx context.Context, op string, err error) error {
	return failure(ctx, s.path, op, err)
}

// querier is what reads run on: the pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// reading runs fn, which makes one query, when it is its turn.
func (s *Store) reading(ctx context.Context, op string, fn func(q querier) error) error {
	err := s.turns.take(ctx)
	if err == nil {
		defer s.turns.give()
		err = fn(s.reader)
	}
	return s.failure(ctx, op, err)
}

// view runs fn in a read transaction, so that all its queries see one state of
// the catalog.
func (s *Store) view(ctx context.Context, op string, fn func(q querier) error) error {
	return s.reading(ctx, op, func(querier) error {
		tx, err := s.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err == nil {
			defer tx.Rollback()
			err = fn(tx)
		}
		return err
	})
}

// read reads all rows of one query.
func read[T any](
	ctx context.Context, s *Store, op string, scan func(*sql.Rows) (T, error), query string, args ...any,
) (list []T, err error) {
	err = s.reading(ctx, op, func(q querier) error {
		list, err = collect(ctx, q, scan, query, args...)
		return err
	})
	return list, err
}

// update runs fn in a write transaction and commits it.
func (s *Store) update(ctx context.Context, op string, fn func(t *txn) error) error {
	tx, err := s.begin(ctx)
	if err == nil {
		defer tx.Rollback()
		t := &txn{Tx: tx, statements: map[string]*sql.Stmt{}}
		if err = fn(t); err == nil {
			err = tx.Commit()
		}
	}
	return s.failure(ctx, op, err)
}

// begin takes the write lock. It polls instead of waiting inside SQLite, which
// does not notice a cancelled context.
func (s *Store) begin(ctx context.Context) (*sql.Tx, error) {
	for deadline := time.Now().Add(LockWait); ; {
		tx, err := s.writer.BeginTx(ctx, nil)
		if err == nil || !busy(err) || ctx.Err() != nil || time.Now().After(deadline) {
			return tx, err
		}
	}
}

// txn is a write transaction that caches prepared statements.
type txn struct {
	*sql.Tx
	statements map[string]*sql.Stmt
}

// exec runs a frequent statement. It deliberately passes no context: the driver
// would start a goroutine per statement to watch it. The transaction as a whole
// ends with its context, and long loops check the context themselves.
func (t *txn) exec(query string, args ...any) (sql.Result, error) {
	stmt, err := t.statement(query)
	if err != nil {
		return nil, err
	}
	return stmt.Exec(args...)
}

// insert runs an INSERT … RETURNING id.
func (t *txn) insert(query string, args ...any) (id int64, err error) {
	stmt, err := t.statement(query)
	if err != nil {
		return 0, err
	}
	return id, stmt.QueryRow(args...).Scan(&id)
}

func (t *txn) statement(query string) (*sql.Stmt, error) {
	if stmt, ok := t.statements[query]; ok {
		return stmt, nil
	}
	stmt, err := t.Prepare(query) // closed with the transaction
	if err != nil {
		return nil, err
	}
	t.statements[query] = stmt
	return stmt, nil
}

// collect reads all rows of a query.
func collect[T any](
	ctx context.Context, q querier, scan func(*sql.Rows) (T, error), query string, args ...any,
) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

// maxParameters is the maximum number of values in one IN list: far below the
// limits of a statement in SQLite (32,766) and PostgreSQL (65,535).
const maxParameters = 500

// chunks calls fn with at most maxParameters values at a time.
func chunks[T any](list []T, fn func(part []T) error) error {
	for len(list) > 0 {
		part := list[:min(maxParameters, len(list))]
		if err := fn(part); err != nil {
			return err
		}
		list = list[len(part):]
	}
	return nil
}

// in returns "column IN (?,?,…)" and its arguments.
func in[T any](column string, values []T) (string, []any) {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	return column + " IN (" + placeholders(len(values)) + ")", args
}

// inFolded is a case-insensitive in.
func inFolded(column string, values []string) (string, []any) {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = catalog.Clean(v)
	}
	return "lower(" + column + ") IN (" + strings.TrimSuffix(strings.Repeat("lower(?),", len(values)), ",") + ")", args
}

func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// micros returns a time as stored in the database.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// fromMicros is the inverse of micros.
func fromMicros(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// number returns a boolean as stored in the database.
func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// limit is a LIMIT that means "all" if n is not positive.
func limit(n int) int64 {
	if n <= 0 {
		return 1<<63 - 1
	}
	return int64(n)
}

func notFound(what any) error { return fmt.Errorf("%v: %w", what, catalog.ErrNotFound) }
