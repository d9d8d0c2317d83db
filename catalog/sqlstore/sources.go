package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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

// State returns what the last run of a source left for the next one, which Apply
// stores beside the cursor; nil: nothing.
func (s *Store) State(ctx context.Context, source string) (state []byte, err error) {
	err = s.reading(ctx, "state", func(q querier) error {
		err := q.QueryRowContext(ctx, `SELECT state FROM sources WHERE name = ?`, catalog.Clean(source)).Scan(&state)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return state, err
}

// SetSource stores a source's sync state except what only Apply sets: its
// cursor, its state and Foreign.
func (s *Store) SetSource(ctx context.Context, st catalog.SourceState) error {
	return s.write(ctx, "set source", func(t *txn) error {
		return t.run(`INSERT INTO sources
(name, kind, last_run, last_success, position, failure, skipped, remark, settings, freshness)
VALUES (?, ?, ?, ?, '', ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, last_run = excluded.last_run,
	last_success = excluded.last_success, failure = excluded.failure,
	skipped = excluded.skipped, remark = excluded.remark, settings = excluded.settings,
	freshness = excluded.freshness`,
			catalog.Clean(st.Name), catalog.Clean(st.Kind), micros(catalog.CleanTime(st.LastRun)),
			micros(catalog.CleanTime(st.LastSuccess)),
			catalog.Clean(st.Error), st.Skipped, catalog.Clean(st.Remark), st.Settings, st.Freshness.Microseconds())
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
		return t.each(dropSource, catalog.Clean(source))
	})
}

// putForeign remembers that a source has yielded records of another.
func (t *txn) putForeign(source string) error {
	return t.run(`INSERT INTO foreign_sources (name) VALUES (?) ON CONFLICT (name) DO NOTHING`, source)
}

func (t *txn) putCursor(source, cursor string, state []byte) error {
	_, err := t.Exec(`INSERT INTO sources (name, kind, last_run, last_success, position, state, failure, skipped, freshness)
VALUES (?, '', 0, 0, ?, ?, '', 0, 0)
ON CONFLICT (name) DO UPDATE SET position = excluded.position, state = excluded.state`,
		source, catalog.Clean(cursor), state)
	if err == nil && cursor == "" { // it will be known again when everything has been read
		_, err = t.Exec(`DELETE FROM foreign_sources WHERE name = ?`, source)
	}
	return err
}

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

const eventColumns = `kind, key, field, at, old, new, raw_old, raw_new, via, revision, url, subject, source`

// counts is the condition that an event is of the one source of its record and
// field that counts; most have only one.
const counts = `(NOT EXISTS (SELECT 1 FROM events o
	WHERE o.kind = events.kind AND o.key = events.key AND o.field = events.field AND o.source <> events.source)
OR source = (SELECT o.source FROM events o LEFT JOIN records r ON r.kind = o.kind AND r.key = o.key
	LEFT JOIN facts f ON f.record = r.id AND f.source = o.source
	WHERE o.kind = events.kind AND o.key = events.key AND o.field = events.field
	ORDER BY f.source IS NULL, r.source IS DISTINCT FROM o.source, o.source LIMIT 1))`

// Events returns matching events, newest first, then by reference; events
// of one reference at the same time are in reverse order of writing. Of
// several sources that report the changes of a field, one counts: a source
// that gives facts of the record, else its owner, else the first by name.
func (s *Store) Events(ctx context.Context, query catalog.EventQuery) ([]catalog.Event, error) {
	ref := query.Ref.Clean()
	c := conditions{parts: []string{`1 = 1`}}
	if ref.Kind != "" {
		c.add(`kind = ?`, string(ref.Kind))
	}
	if ref.Key != "" {
		c.add(`key = ?`, ref.Key)
	}
	if query.Field != "" {
		c.add(`field = ?`, catalog.Clean(query.Field))
	}
	c.between("at", query.Since, query.Until)
	c.add(counts)
	return read(ctx, s, "events", scanEvent, `SELECT `+eventColumns+` FROM events WHERE `+c.sql()+
		` ORDER BY at DESC, kind, key, id DESC LIMIT +?`, append(c.args, limit(query.Limit))...)
}

func scanEvent(rows *sql.Rows) (e catalog.Event, err error) {
	var at int64
	err = rows.Scan(&e.Ref.Kind, &e.Ref.Key, &e.Field, &at, &e.From, &e.To, &e.RawFrom, &e.RawTo, &e.Via, &e.Commit,
		&e.URL, &e.Subject, &e.Source)
	e.At = fromMicros(at)
	return e, err
}

// replaceEvents replaces the source's earlier events of each reference; it
// writes nothing if they are unchanged.
func (t *txn) replaceEvents(ctx context.Context, source string, events []catalog.Event) error {
	var order []catalog.Ref
	byRef := map[catalog.Ref][]catalog.Event{}
	for _, e := range events {
		e = cleanEvent(e, source)
		if byRef[e.Ref] == nil {
			order = append(order, e.Ref)
		}
		byRef[e.Ref] = append(byRef[e.Ref], e)
	}
	for _, ref := range order {
		stored, err := collect(ctx, t.Tx, scanEvent,
			`SELECT `+eventColumns+` FROM events WHERE kind = ? AND key = ? AND source = ? ORDER BY id`,
			string(ref.Kind), ref.Key, source)
		if err != nil {
			return err
		}
		if slices.Equal(stored, byRef[ref]) {
			continue
		}
		if err := t.run(`DELETE FROM events WHERE kind = ? AND key = ? AND source = ?`, string(ref.Kind), ref.Key,
			source); err != nil {
			return err
		}
		for _, e := range byRef[ref] {
			if err := t.putEvent(e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (t *txn) putEvent(e catalog.Event) error {
	_, err := t.Exec(`INSERT INTO events (`+eventColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		string(e.Ref.Kind), e.Ref.Key, e.Field, micros(e.At), e.From, e.To, e.RawFrom, e.RawTo, e.Via, e.Commit,
		e.URL, e.Subject, e.Source)
	return err
}

func cleanEvent(e catalog.Event, source string) catalog.Event {
	e.Ref, e.Source, e.At = e.Ref.Clean(), source, catalog.CleanTime(e.At)
	for _, s := range []*string{&e.Field, &e.From, &e.To, &e.RawFrom, &e.RawTo, &e.Via, &e.Commit, &e.URL, &e.Subject} {
		*s = catalog.Clean(*s)
	}
	return e
}
