package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/semaphore"

	"almanac/catalog"
)

// Config is a database as the package of its engine opened it.
type Config struct {
	Reader *sql.DB
	Reads  int64 // at once
	Writer *sql.DB
	// View begins a transaction that sees one state and writes nothing.
	View sql.TxOptions
	// Begin begins a transaction on Writer once no other of any process writes: changes
	// are numbered in the order of commits.
	Begin func(ctx context.Context, writer *sql.DB) (*sql.Tx, error)
	// Locker says which process is the writer of a database that machines share. nil: a
	// lock of the file system says it.
	Locker catalog.Locker
	// Fence fails if another process has become the writer. nil: there is no Locker.
	Fence func(tx *sql.Tx) error
	// Leases is what Locker asks; it is closed with the store.
	Leases *sql.DB
	// IDs is a query of the numbers of a JSON array, its parameter.
	IDs string
	// Ping reads a little, not from what a connection remembers.
	Ping func(ctx context.Context) error
	// Whole reads everything, and fails if it is damaged. nil: the server looks after that.
	Whole func(ctx context.Context) error
	// Explain puts problems that the operator solves into a sentence.
	Explain func(error) error
	Now     func() time.Time // the clock; nil means time.Now
	// Around runs each operation, of which it gets the name. nil: in a span of the
	// context's trace.
	Around func(ctx context.Context, op string, do func() error) error
}

// Store is the catalog in a database. Its tests hold the same promises on SQLite and PostgreSQL.
//
// Reads see only live records unless they say otherwise and are safe for concurrent use;
// writes are serialised. Every write is one transaction: after a crash it is either
// complete or absent.
type Store struct {
	Config
	reads    *semaphore.Weighted // in the order in which they come: package sql would choose at random
	standing standing
}

// New returns the store of a database that has the newest schema.
func New(cfg Config) *Store {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Around == nil {
		cfg.Around = traced
	}
	return &Store{Config: cfg, reads: semaphore.NewWeighted(cfg.Reads)}
}

// Close waits for the running statements and closes the database.
func (s *Store) Close() error {
	err := errors.Join(s.Reader.Close(), s.Writer.Close())
	if s.Leases != nil {
		err = errors.Join(err, s.Leases.Close())
	}
	return err
}

// failure wraps an error with the operation.
func (s *Store) failure(ctx context.Context, op string, err error) error {
	err = Failure(ctx, op, err, s.Explain)
	if errors.Is(err, catalog.ErrDamaged) {
		s.standing.damage.Store(&err)
	}
	return err
}

// Failure wraps an error with the operation. Problems for the operator to solve
// become one plain sentence.
func Failure(ctx context.Context, op string, err error, explain func(error) error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil: // drivers report a cancelled statement as interrupted
		return &catalog.Failure{Op: op, Err: ctx.Err()}
	}
	return &catalog.Failure{Op: op, Err: explain(err)}
}

// querier is what reads run on: the pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// traced runs an operation in a span of a context's trace. Outside one nothing is recorded: the change log is read
// every second.
func traced(ctx context.Context, op string, do func() error) error {
	_, span := trace.SpanFromContext(ctx).TracerProvider().Tracer("almanac").Start(ctx, "catalog",
		trace.WithAttributes(attribute.String("operation", op)))
	defer span.End()
	err := do()
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	return err
}

// reading runs fn, which makes one query, when a connection is free.
func (s *Store) reading(ctx context.Context, op string, fn func(q querier) error) error {
	err := s.Around(ctx, op, func() error {
		if err := s.reads.Acquire(ctx, 1); err != nil {
			return err
		}
		defer s.reads.Release(1)
		return fn(s.Reader)
	})
	return s.failure(ctx, op, err)
}

// view runs fn in a read transaction, so that all its queries see one state of
// the catalog.
func (s *Store) view(ctx context.Context, op string, fn func(q querier) error) error {
	return s.reading(ctx, op, func(querier) error {
		tx, err := s.Reader.BeginTx(ctx, &s.View)
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
	err := s.Around(ctx, op, func() error {
		tx, err := s.Begin(ctx, s.Writer)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if err := fn(&txn{tx}); err != nil {
			return err
		}
		return tx.Commit()
	})
	return s.failure(ctx, op, err)
}

// write is update for what one process alone may write: what sources say, and the index.
func (s *Store) write(ctx context.Context, op string, fn func(t *txn) error) error {
	return s.update(ctx, op, func(t *txn) error {
		if s.Fence != nil {
			if err := s.Fence(t.Tx); err != nil {
				return err
			}
		}
		return fn(t)
	})
}

// txn is a write transaction. Its frequent statements deliberately have no context:
// a driver would start a goroutine per statement to watch it. The transaction as a
// whole ends with its context, and long loops check the context themselves.
type txn struct{ *sql.Tx }

// run runs a statement of which nothing is to be known but whether it failed.
func (t *txn) run(statement string, args ...any) error {
	_, err := t.Exec(statement, args...)
	return err
}

// each runs statements that have the same values.
func (t *txn) each(statements []string, args ...any) error {
	for _, statement := range statements {
		if err := t.run(statement, args...); err != nil {
			return err
		}
	}
	return nil
}

// insert runs an INSERT … RETURNING id.
func (t *txn) insert(query string, args ...any) (id int64, err error) {
	return id, t.QueryRow(query, args...).Scan(&id)
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

// pairs adds the rows of a query, of two columns each, to a map.
func pairs[K comparable, V any](ctx context.Context, q querier, into map[K]V, query string, args ...any) error {
	_, err := collect(ctx, q, func(rows *sql.Rows) (none struct{}, err error) {
		var key K
		var value V
		err = rows.Scan(&key, &value)
		into[key] = value
		return none, err
	}, query, args...)
	return err
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
	folded := make([]string, len(values))
	for i, v := range values {
		folded[i] = lower(catalog.Clean(v))
	}
	return in("lower("+column+")", folded)
}

// lower is the function of SQL, of which only ASCII is the same in every engine.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
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

const (
	// pingPatience is the time that the database has for a ping.
	pingPatience = 2 * time.Second
	// pingEvery is how long an answer holds: whoever asks all the time costs little.
	pingEvery = 250 * time.Millisecond
	// wholeEvery is how often a damaged catalog is read as a whole, in case that it was
	// mended.
	wholeEvery = 10 * time.Second
)

// standing is whether a database answers.
type standing struct {
	damage atomic.Pointer[error] // what a read met; nil: nothing

	mu    sync.Mutex // held while the database is asked, so that one answer is for all who wait
	asked time.Time
	err   error
	whole time.Time // when everything was read
}

// Ping says whether reads are answered now: why not, if they are not. It takes two
// seconds at most, however often it is called. What a read met of damage counts until
// everything can be read again: a ping reads little. ErrUnreachable, ErrDamaged.
func (s *Store) Ping(ctx context.Context) error {
	p := &s.standing
	p.mu.Lock()
	defer p.mu.Unlock()
	if news := p.err == nil && p.damage.Load() != nil; !news && time.Since(p.asked) < pingEvery {
		return p.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingPatience)
	defer cancel()
	err := s.Config.Ping(ctx)
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer within %v: %w", pingPatience, catalog.ErrUnreachable)
	}
	if err = s.failure(context.Background(), "ping", err); err == nil {
		err = s.damaged(ctx)
	}
	p.asked, p.err = time.Now(), err
	return err
}

// damaged returns the damage that a read met, unless everything can be read by now.
func (s *Store) damaged(ctx context.Context) error {
	p := &s.standing
	damage := p.damage.Load()
	if damage == nil || s.Whole == nil {
		return nil
	}
	if time.Since(p.whole) < wholeEvery {
		return *damage
	}
	err := s.Whole(ctx)
	if p.whole = time.Now(); err != nil {
		return *damage
	}
	p.damage.CompareAndSwap(damage, nil)
	return nil
}

// Meta returns a fact about the data directory itself: its network, the sample's anchor
// day. A missing key returns "".
func (s *Store) Meta(ctx context.Context, key string) (value string, err error) {
	err = s.reading(ctx, "meta", func(q querier) error {
		err := q.QueryRowContext(ctx, `SELECT value FROM meta WHERE name = ?`, catalog.Clean(key)).Scan(&value)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return value, err
}

// SetMeta sets a fact about the data directory.
func (s *Store) SetMeta(ctx context.Context, key, value string) error {
	return s.update(ctx, "set meta", func(t *txn) error {
		return t.run(`INSERT INTO meta (name, value) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value`, catalog.Clean(key), catalog.Clean(value))
	})
}
