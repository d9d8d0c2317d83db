package sqlstore

import (
	"context"
	"database/sql"
	"slices"

	"almanac/catalog"
)

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
		if _, err := t.Exec(`DELETE FROM events WHERE kind = ? AND key = ? AND source = ?`, string(ref.Kind), ref.Key,
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
