package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"almanac/catalog"
)

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
		_, err := t.Exec(`INSERT INTO meta (name, value) VALUES (?, ?)
ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
			catalog.Clean(key), catalog.Clean(value))
		return err
	})
}
