package sqlstore

import (
	"context"
	"database/sql"

	"almanac/catalog"
)

// Changes returns up to limit changes after seq, oldest first. A record
// that changed several times appears once, at its last change. Limit 0 means all.
func (s *Store) Changes(ctx context.Context, after int64, n int) ([]catalog.Change, error) {
	return read(ctx, s, "changes", scanChange,
		`SELECT seq, record, deleted, at FROM changes WHERE seq > ? ORDER BY seq LIMIT +?`,
		after, limit(n))
}

func scanChange(rows *sql.Rows) (c catalog.Change, err error) {
	var deleted, at int64
	err = rows.Scan(&c.Seq, &c.Record, &deleted, &at)
	c.Delete, c.At = deleted == 1, fromMicros(at)
	return c, err
}

// LastChange returns the newest sequence number of the change log, 0 if the
// log is empty. Anything computed from records is valid while it does not
// change.
func (s *Store) LastChange(ctx context.Context) (seq int64, err error) {
	err = s.reading(ctx, "last change", func(q querier) error {
		return q.QueryRowContext(ctx, `SELECT COALESCE(MAX(seq), 0) FROM changes`).Scan(&seq)
	})
	return seq, err
}

// CountChanges returns how many changes are after seq.
func (s *Store) CountChanges(ctx context.Context, after int64) (n int, err error) {
	err = s.reading(ctx, "count changes", func(q querier) error {
		return q.QueryRowContext(ctx, `SELECT COUNT(*) FROM changes WHERE seq > ?`, after).Scan(&n)
	})
	return n, err
}

// putChanges appends to the log. A record's older row is removed: a follower
// only needs to know that the record changed after its checkpoint. So the log
// grows with the catalog, not with its history, and a new index reads each
// record once.
func (t *txn) putChanges(ctx context.Context, changes []catalog.Change) error {
	err := chunks(changes, func(part []catalog.Change) error {
		ids := make([]int64, len(part))
		for i, c := range part {
			ids[i] = c.Record
		}
		where, args := in("record", ids)
		_, err := t.ExecContext(ctx, `DELETE FROM changes WHERE `+where, args...)
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range changes {
		_, err := t.Exec(`INSERT INTO changes (record, deleted, at) VALUES (?, ?, ?)`,
			c.Record, number(c.Delete), micros(c.At))
		if err != nil {
			return err
		}
	}
	return nil
}
