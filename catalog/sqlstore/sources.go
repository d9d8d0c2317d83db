package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"almanac/catalog"
)

// Sources returns the sync state of every source ever synced, by name.
func (s *Store) Sources(ctx context.Context) ([]catalog.SourceState, error) {
	return read(ctx, s, "sources", scanSource,
		`SELECT name, kind, last_run, last_success, position, failure, skipped, remark, settings, freshness,
	name IN (SELECT name FROM foreign_sources) FROM sources ORDER BY name`)
}

func scanSource(rows *sql.Rows) (st catalog.SourceState, err error) {
	var run, success, freshness int64
	err = rows.Scan(&st.Name, &st.Kind, &run, &success, &st.Cursor, &st.Error, &st.Skipped, &st.Remark,
		&st.Settings, &freshness, &st.Foreign)
	st.LastRun, st.LastSuccess = fromMicros(run), fromMicros(success)
	st.Freshness = time.Duration(freshness) * time.Microsecond
	return st, err
}

// SetSource stores a source's sync state except what only Apply sets: its
// cursor and Foreign.
func (s *Store) SetSource(ctx context.Context, st catalog.SourceState) error {
	return s.write(ctx, "set source", func(t *txn) error {
		_, err := t.Exec(`INSERT INTO sources
(name, kind, last_run, last_success, position, failure, skipped, remark, settings, freshness)
VALUES (?, ?, ?, ?, '', ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, last_run = excluded.last_run,
	last_success = excluded.last_success, failure = excluded.failure,
	skipped = excluded.skipped, remark = excluded.remark, settings = excluded.settings,
	freshness = excluded.freshness`,
			catalog.Clean(st.Name), catalog.Clean(st.Kind), micros(catalog.CleanTime(st.LastRun)),
			micros(catalog.CleanTime(st.LastSuccess)),
			catalog.Clean(st.Error), st.Skipped, catalog.Clean(st.Remark), st.Settings, st.Freshness.Microseconds())
		return err
	})
}

// dropSource are the statements that remove a source. What it added to tombstones
// would come back with them.
var dropSource = []string{
	`DELETE FROM record_aliases WHERE source = ?1 AND record IN (SELECT record FROM additions WHERE source = ?1)`,
	`DELETE FROM links WHERE source = ?1 AND record IN (SELECT record FROM additions WHERE source = ?1)`,
	`DELETE FROM facts WHERE source = ?1`,
	`DELETE FROM additions WHERE source = ?1`,
	`DELETE FROM events WHERE source = ?1`,
	`DELETE FROM foreign_sources WHERE name = ?1`,
	`DELETE FROM sources WHERE name = ?1`,
}

// DropSource removes a source's sync state and its events. Its records and
// additions are deleted before, by Apply.
func (s *Store) DropSource(ctx context.Context, source string) error {
	return s.write(ctx, "drop source", func(t *txn) error {
		for _, statement := range dropSource {
			if _, err := t.Exec(statement, catalog.Clean(source)); err != nil {
				return err
			}
		}
		return nil
	})
}

// putForeign remembers that a source has yielded records of another.
func (t *txn) putForeign(source string) error {
	_, err := t.Exec(`INSERT INTO foreign_sources (name) VALUES (?) ON CONFLICT (name) DO NOTHING`, source)
	return err
}

func (t *txn) putCursor(source, cursor string) error {
	_, err := t.Exec(`INSERT INTO sources (name, kind, last_run, last_success, position, failure, skipped, freshness)
VALUES (?, '', 0, 0, ?, '', 0, 0)
ON CONFLICT (name) DO UPDATE SET position = excluded.position`, source, catalog.Clean(cursor))
	if err == nil && cursor == "" { // it will be known again when everything has been read
		_, err = t.Exec(`DELETE FROM foreign_sources WHERE name = ?`, source)
	}
	return err
}
