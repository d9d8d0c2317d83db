package sqlite

import (
	"context"
	"database/sql"
	"time"

	"almanac/catalog"
)

// Sources returns the sync state of every source ever synced, by name.
func (s *Store) Sources(ctx context.Context) ([]catalog.SourceState, error) {
	return read(ctx, s, "sources", scanSource,
		`SELECT name, kind, last_run, last_success, position, failure, skipped, freshness FROM sources ORDER BY name`)
}

func scanSource(rows *sql.Rows) (st catalog.SourceState, err error) {
	var run, success, freshness int64
	err = rows.Scan(&st.Name, &st.Kind, &run, &success, &st.Cursor, &st.Error, &st.Skipped, &freshness)
	st.LastRun, st.LastSuccess = fromMicros(run), fromMicros(success)
	st.Freshness = time.Duration(freshness) * time.Microsecond
	return st, err
}

// SetSource stores a source's sync state except its cursor.
func (s *Store) SetSource(ctx context.Context, st catalog.SourceState) error {
	return s.update(ctx, "set source", func(t *txn) error {
		_, err := t.exec(`INSERT INTO sources
(name, kind, last_run, last_success, position, failure, skipped, freshness)
VALUES (?, ?, ?, ?, '', ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, last_run = excluded.last_run,
	last_success = excluded.last_success, failure = excluded.failure,
	skipped = excluded.skipped, freshness = excluded.freshness`,
			catalog.Clean(st.Name), catalog.Clean(st.Kind), micros(catalog.CleanTime(st.LastRun)),
			micros(catalog.CleanTime(st.LastSuccess)),
			catalog.Clean(st.Error), st.Skipped, st.Freshness.Microseconds())
		return err
	})
}

func (t *txn) putCursor(source, cursor string) error {
	_, err := t.exec(`INSERT INTO sources (name, kind, last_run, last_success, position, failure, skipped, freshness)
VALUES (?, '', 0, 0, ?, '', 0, 0)
ON CONFLICT (name) DO UPDATE SET position = excluded.position`, source, catalog.Clean(cursor))
	return err
}
