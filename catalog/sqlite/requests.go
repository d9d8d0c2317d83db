package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"almanac/catalog"
)

// Enqueue adds a request; CreatedAt defaults to now.
func (s *Store) Enqueue(ctx context.Context, r catalog.Request) (id int64, err error) {
	at := catalog.CleanTime(r.CreatedAt)
	if at.IsZero() {
		at = catalog.CleanTime(s.now())
	}
	err = s.update(ctx, "enqueue", func(t *txn) error {
		id, err = t.insert(`INSERT INTO requests (kind, argument, created_at, done_at, failure)
VALUES (?, ?, ?, 0, '') RETURNING id`,
			catalog.Clean(r.Kind), catalog.Clean(r.Argument), micros(at))
		return err
	})
	return id, err
}

// Requests returns the open requests, oldest first.
func (s *Store) Requests(ctx context.Context) ([]catalog.Request, error) {
	list, err := collect(ctx, s.reader, scanRequest,
		`SELECT id, kind, argument, created_at, failure FROM requests WHERE done_at = 0 ORDER BY id`)
	return list, s.failure(ctx, "requests", err)
}

func scanRequest(rows *sql.Rows) (r catalog.Request, err error) {
	var at int64
	err = rows.Scan(&r.ID, &r.Kind, &r.Argument, &at, &r.Failure)
	r.CreatedAt = fromMicros(at)
	return r, err
}

// FinishRequest marks a request done. ErrNotFound if no open request has the
// id.
func (s *Store) FinishRequest(ctx context.Context, id int64, failure string) error {
	return s.update(ctx, "finish request", func(t *txn) error {
		done, err := t.exec(`UPDATE requests SET done_at = ?, failure = ? WHERE id = ? AND done_at = 0`,
			micros(catalog.CleanTime(s.now())), catalog.Clean(failure), id)
		if err != nil {
			return err
		}
		return affected(done, fmt.Sprintf("open request %d", id))
	})
}

// affected returns ErrNotFound if a statement changed nothing.
func affected(r sql.Result, what string) error {
	n, err := r.RowsAffected()
	if err == nil && n == 0 {
		return notFound(what)
	}
	return err
}
