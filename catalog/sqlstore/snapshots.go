package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"almanac/catalog"
)

// Snapshots returns the newest snapshots of a series, newest first; limit 0
// means all.
func (s *Store) Snapshots(ctx context.Context, series string, n int) ([]catalog.Snapshot, error) {
	return read(ctx, s, "snapshots", scanSnapshot,
		`SELECT series, captured_at, data FROM snapshots WHERE series = ? ORDER BY captured_at DESC LIMIT +?`,
		catalog.Clean(series), limit(n))
}

func scanSnapshot(rows *sql.Rows) (snap catalog.Snapshot, err error) {
	var at int64
	var data string
	err = rows.Scan(&snap.Series, &at, &data)
	snap.CapturedAt, snap.Data = fromMicros(at), json.RawMessage(data)
	return snap, err
}

// PutSnapshot stores one snapshot, replacing one of the same series and time.
func (s *Store) PutSnapshot(ctx context.Context, snap catalog.Snapshot) error {
	at := catalog.CleanTime(snap.CapturedAt)
	if snap.Series == "" || at.IsZero() || !json.Valid(snap.Data) {
		return fmt.Errorf("catalog: put snapshot: %w: a snapshot needs a series, a time and JSON data",
			catalog.ErrBadEntry)
	}
	return s.write(ctx, "put snapshot", func(t *txn) error {
		_, err := t.Exec(`INSERT INTO snapshots (series, captured_at, data) VALUES (?, ?, ?)
ON CONFLICT (series, captured_at) DO UPDATE SET data = excluded.data`,
			catalog.Clean(snap.Series), micros(at), catalog.Clean(string(snap.Data)))
		return err
	})
}

// PruneSnapshots removes all but the newest snapshots of a series.
func (s *Store) PruneSnapshots(ctx context.Context, series string, keep int) error {
	return s.write(ctx, "prune snapshots", func(t *txn) error {
		_, err := t.Exec(`DELETE FROM snapshots WHERE series = ? AND captured_at NOT IN
	(SELECT captured_at FROM snapshots WHERE series = ? ORDER BY captured_at DESC LIMIT +?)`,
			catalog.Clean(series), catalog.Clean(series), max(0, keep))
		return err
	})
}
