package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"almanac/catalog"
)

const selectRequests = `SELECT id, kind, argument, author, created_at, started_at, attempts, done_at, done, total, cancelled,
	result, failure FROM requests `

// Enqueue adds a job; of the request it takes Kind, Argument, By and CreatedAt (default
// now).
func (s *Store) Enqueue(ctx context.Context, r catalog.Request) (id int64, err error) {
	at := catalog.CleanTime(r.CreatedAt)
	if at.IsZero() {
		at = catalog.CleanTime(s.Now())
	}
	err = s.update(ctx, "enqueue", func(t *txn) error {
		id, err = t.insert(`INSERT INTO requests (kind, argument, author, created_at, done_at, failure)
VALUES (?, ?, ?, ?, 0, '') RETURNING id`,
			catalog.Clean(r.Kind), catalog.Clean(r.Argument), catalog.Clean(r.By), micros(at))
		return err
	})
	return id, err
}

// Requests returns the requests that are not done, oldest first.
func (s *Store) Requests(ctx context.Context) ([]catalog.Request, error) {
	return read(ctx, s, "requests", scanRequest, selectRequests+`WHERE done_at = 0 ORDER BY id`)
}

// Jobs returns requests whatever their state, newest first; limit 0 means all.
func (s *Store) Jobs(ctx context.Context, n int) ([]catalog.Request, error) {
	return read(ctx, s, "jobs", scanRequest, selectRequests+`ORDER BY id DESC LIMIT +?`, limit(n))
}

// Job returns a request. ErrNotFound.
func (s *Store) Job(ctx context.Context, id int64) (catalog.Request, error) {
	return one(ctx, s, scanRequest, fmt.Sprintf("job %d", id), selectRequests+`WHERE id = ?`, id)
}

func scanRequest(rows *sql.Rows) (r catalog.Request, err error) {
	var created, started, done int64
	err = rows.Scan(&r.ID, &r.Kind, &r.Argument, &r.By, &created, &started, &r.Attempts, &done, &r.Done, &r.Total, &r.Cancelled,
		&r.Result, &r.Failure)
	r.CreatedAt, r.StartedAt, r.DoneAt = fromMicros(created), fromMicros(started), fromMicros(done)
	return r, err
}

// StartRequest says that a request is under way from now on; one that a process
// left unfinished begins again.
func (s *Store) StartRequest(ctx context.Context, id int64) error {
	return s.write(ctx, "start request", func(t *txn) error {
		return t.open(id, `UPDATE requests SET started_at = ?, attempts = attempts + 1, done = 0, total = 0
WHERE id = ? AND done_at = 0`,
			micros(catalog.CleanTime(s.Now())), id)
	})
}

// ProgressRequest stores how far a request is, and reports whether it is to be
// cancelled.
func (s *Store) ProgressRequest(ctx context.Context, id int64, done, total int) (cancel bool, err error) {
	err = s.write(ctx, "progress of a request", func(t *txn) error {
		return t.QueryRowContext(ctx, `UPDATE requests SET done = ?, total = ? WHERE id = ? RETURNING cancelled`,
			done, total, id).Scan(&cancel)
	})
	return cancel, err
}

// CancelRequest asks whoever executes a request to stop; one that has not begun
// is done at once. ErrNotFound if no open request has the id.
func (s *Store) CancelRequest(ctx context.Context, id int64) error {
	return s.update(ctx, "cancel request", func(t *txn) error {
		return t.open(id, `UPDATE requests SET cancelled = 1,
	done_at = CASE WHEN started_at = 0 THEN CAST(? AS BIGINT) ELSE 0 END,
	failure = CASE WHEN started_at = 0 THEN 'cancelled before it began' ELSE '' END
WHERE id = ? AND done_at = 0`, micros(catalog.CleanTime(s.Now())), id)
	})
}

// FinishRequest marks a request done, with its result or why there is none.
// ErrNotFound if no open request has the id.
func (s *Store) FinishRequest(ctx context.Context, id int64, result, failure string) error {
	return s.write(ctx, "finish request", func(t *txn) error {
		return t.open(id, `UPDATE requests SET done_at = ?, result = ?, failure = ? WHERE id = ? AND done_at = 0`,
			micros(catalog.CleanTime(s.Now())), catalog.Clean(result), catalog.Clean(failure), id)
	})
}

// open runs a statement on an open request; ErrNotFound if there is none.
func (t *txn) open(id int64, statement string, args ...any) error {
	done, err := t.Exec(statement, args...)
	if err != nil {
		return err
	}
	return affected(done, fmt.Sprintf("open request %d", id))
}

// affected returns ErrNotFound if a statement changed nothing.
func affected(r sql.Result, what string) error {
	n, err := r.RowsAffected()
	if err == nil && n == 0 {
		return notFound(what)
	}
	return err
}

// one returns the first row of a query; ErrNotFound if it has none.
func one[T any](
	ctx context.Context, s *Store, scan func(*sql.Rows) (T, error), what, query string, args ...any,
) (v T, err error) {
	list, err := read(ctx, s, what, scan, query, args...)
	if err == nil && len(list) == 0 {
		err = s.failure(ctx, what, notFound(what))
	}
	if err != nil {
		return v, err
	}
	return list[0], nil
}
