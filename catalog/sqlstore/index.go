package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
)

const (
	passageColumns = `id, record, ordinal, ` + passageTexts
	passageTexts   = `anchor, section, heading, text, places` // what a passage's checksum is of
)

// PutPassages replaces the passages and documents of records, adds to the statistics and
// moves the generation's checkpoint, in one transaction. A record given without passages
// loses them and its document. ErrNotFound if the generation does not exist.
func (s *Store) PutPassages(ctx context.Context, generation int64, b catalog.IndexBatch) error {
	return s.write(ctx, "put passages", func(t *txn) error {
		if b.Statistics != nil {
			if err := t.putStatistics(generation, b); err != nil {
				return err
			}
		}
		if err := t.moveCheckpoint(generation, b.Checkpoint); err != nil {
			return err
		}
		err := chunks(b.Records, func(part []catalog.RecordPassages) error {
			ids := make([]int64, len(part))
			for i, r := range part {
				ids[i] = r.Record
			}
			where, args := in("record", ids)
			for _, table := range []string{"passages", "documents"} {
				_, err := t.ExecContext(ctx, `DELETE FROM `+table+` WHERE generation = ? AND `+where,
					append([]any{generation}, args...)...)
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, r := range b.Records {
			if err := ctx.Err(); err != nil {
				return err
			}
			if len(r.Passages) == 0 {
				continue
			}
			_, err := t.Exec(`INSERT INTO documents (generation, record, data, sum) VALUES (?, ?, ?, ?)`,
				generation, r.Record, []byte(r.Document), sumOf([]string{string(r.Document)}))
			if err != nil {
				return err
			}
			for _, p := range r.Passages {
				p.Record = r.Record
				if err := t.putPassage(generation, p); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (t *txn) putPassage(generation int64, p catalog.Passage) error {
	var places string
	if len(p.Places) > 0 {
		data, err := json.Marshal(p.Places)
		if err != nil {
			return err
		}
		places = string(data)
	}
	texts := []string{catalog.Clean(p.Anchor), catalog.Clean(p.Section), catalog.Clean(p.Heading),
		catalog.Clean(p.Text), catalog.Clean(places)}
	_, err := t.Exec(`INSERT INTO passages (generation, `+passageColumns+`, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		generation, p.ID, p.Record, p.Ordinal, texts[0], texts[1], texts[2], texts[3], texts[4], sumOf(texts))
	return err
}

// Passages returns the passages with these ids, in no particular order.
func (s *Store) Passages(ctx context.Context, generation int64, ids []int64) (list []catalog.Passage, err error) {
	return read(ctx, s, "passages", scanPassage,
		`SELECT `+passageColumns+` FROM passages WHERE generation = ? AND id IN (`+s.IDs+`)`,
		generation, jsonList(ids))
}

// jsonList writes ids as a JSON array: one statement for any number of them.
func jsonList(ids []int64) string {
	b := append(make([]byte, 0, 2+12*len(ids)), '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(append(b, ']'))
}

func scanPassage(rows *sql.Rows) (p catalog.Passage, err error) {
	var places string
	err = rows.Scan(&p.ID, &p.Record, &p.Ordinal, &p.Anchor, &p.Section, &p.Heading, &p.Text, &places)
	if err == nil && places != "" {
		err = json.Unmarshal([]byte(places), &p.Places)
	}
	return p, err
}

// ScanDocuments calls fn for every document in the order of records until it
// fails. fn must not keep data. All documents come from one state of the database. fn
// should be quick: the write-ahead log grows as long as the scan holds that state.
func (s *Store) ScanDocuments(
	ctx context.Context, generation int64, fn func(record int64, data []byte) error,
) error {
	return s.documents(ctx, "scan documents", fn,
		`SELECT record, data FROM documents WHERE generation = ? ORDER BY record`, generation)
}

// Documents calls fn for the documents of records that have one, in no particular
// order, until it fails. fn must not keep data.
func (s *Store) Documents(
	ctx context.Context, generation int64, records []int64, fn func(record int64, data []byte) error,
) error {
	return s.documents(ctx, "documents", fn,
		`SELECT record, data FROM documents WHERE generation = ? AND record IN (`+s.IDs+`)`,
		generation, jsonList(records))
}

func (s *Store) documents(
	ctx context.Context, op string, fn func(record int64, data []byte) error, query string, args ...any,
) error {
	return s.scan(ctx, op, func(rows *sql.Rows) error {
		var record int64
		var data sql.RawBytes
		if err := rows.Scan(&record, &data); err != nil {
			return err
		}
		return fn(record, data)
	}, query, args...)
}

// scan calls fn for each row of a query until it fails.
func (s *Store) scan(
	ctx context.Context, op string, fn func(*sql.Rows) error, query string, args ...any,
) error {
	return s.reading(ctx, op, func(q querier) error {
		rows, err := q.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := fn(rows); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// putStatistics stores those of a batch, before the checkpoint is moved.
func (t *txn) putStatistics(generation int64, b catalog.IndexBatch) error {
	var since int64
	if b.Whole {
		if err := t.run(`DELETE FROM statistics WHERE generation = ?`, generation); err != nil {
			return err
		}
	} else {
		err := t.QueryRow(`SELECT checkpoint FROM generations WHERE id = ?`, generation).Scan(&since)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return notFound(fmt.Sprintf("generation %d", generation))
		case err != nil:
			return err
		case since >= b.Checkpoint:
			return nil
		}
	}
	_, err := t.Exec(`INSERT INTO statistics (generation, until, since, data) VALUES (?, ?, ?, ?)`,
		generation, b.Checkpoint, since, b.Statistics)
	return err
}

// ScanStatistics calls fn for all statistics up to a position after the given one, in
// their order, until it fails. fn must not keep their data.
func (s *Store) ScanStatistics(
	ctx context.Context, generation, after int64, fn func(catalog.Statistics) error,
) error {
	return s.scan(ctx, "scan statistics", func(rows *sql.Rows) error {
		var x catalog.Statistics
		var data sql.RawBytes
		if err := rows.Scan(&x.Since, &x.Until, &data); err != nil {
			return err
		}
		x.Data = data
		return fn(x)
	}, `SELECT since, until, data FROM statistics WHERE generation = ? AND until > ? ORDER BY until`,
		generation, after)
}

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

const selectGenerations = `SELECT id, fingerprint, checkpoint, created_at FROM generations `

// OpenGeneration returns the generation of the fingerprint (analyzer,
// passage rules, embedding model), creating it if it does not exist.
func (s *Store) OpenGeneration(ctx context.Context, fingerprint string) (catalog.Generation, error) {
	fingerprint = catalog.Clean(fingerprint)
	list, err := read(ctx, s, "open generation", scanGeneration, selectGenerations+`WHERE fingerprint = ?`, fingerprint)
	if err != nil {
		return catalog.Generation{}, err
	}
	if len(list) == 0 {
		err = s.update(ctx, "open generation", func(t *txn) error { // of readers too: an empty one harms nobody
			_, err := t.Exec(`INSERT INTO generations (fingerprint, checkpoint, created_at) VALUES (?, 0, ?)
ON CONFLICT (fingerprint) DO NOTHING`,
				fingerprint, micros(catalog.CleanTime(s.Now())))
			if err != nil {
				return err
			}
			list, err = collect(ctx, t.Tx, scanGeneration, selectGenerations+`WHERE fingerprint = ?`, fingerprint)
			return err
		})
		if err != nil {
			return catalog.Generation{}, err
		}
	}
	return list[0], nil
}

// Generations returns all generations, oldest first.
func (s *Store) Generations(ctx context.Context) ([]catalog.Generation, error) {
	return read(ctx, s, "generations", scanGeneration, selectGenerations+`ORDER BY id`)
}

func scanGeneration(rows *sql.Rows) (g catalog.Generation, err error) {
	var at int64
	err = rows.Scan(&g.ID, &g.Fingerprint, &g.Checkpoint, &at)
	g.CreatedAt = fromMicros(at)
	return g, err
}

// retired marks the fingerprint of a retired generation; no other contains it.
const retired = "\nretired "

// RetireGeneration gives a generation's fingerprint away, so that OpenGeneration
// makes another one, while this stays as it is. Retiring twice does nothing.
// ErrNotFound.
func (s *Store) RetireGeneration(ctx context.Context, id int64) error {
	return s.rename(ctx, "retire generation", id, func(fingerprint string) string {
		before, _, _ := strings.Cut(fingerprint, retired)
		return fmt.Sprint(before, retired, id)
	})
}

// RestoreGeneration takes RetireGeneration back. ErrConflict if another generation
// has the fingerprint now.
func (s *Store) RestoreGeneration(ctx context.Context, id int64) error {
	return s.rename(ctx, "restore generation", id, func(fingerprint string) string {
		before, _, _ := strings.Cut(fingerprint, retired)
		return before
	})
}

// rename changes the fingerprint of a generation.
func (s *Store) rename(ctx context.Context, op string, id int64, to func(fingerprint string) string) error {
	return s.write(ctx, op, func(t *txn) error {
		all, err := collect(ctx, t.Tx, scanGeneration, selectGenerations)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(g catalog.Generation) bool { return g.ID == id })
		if at < 0 {
			return notFound(fmt.Sprintf("generation %d", id))
		}
		fingerprint := to(all[at].Fingerprint)
		if slices.ContainsFunc(all, func(g catalog.Generation) bool { return g.ID != id && g.Fingerprint == fingerprint }) {
			return fmt.Errorf("generation %d: another has its fingerprint: %w", id, catalog.ErrConflict)
		}
		return t.run(`UPDATE generations SET fingerprint = ? WHERE id = ?`, fingerprint, id)
	})
}

// DropGeneration removes a generation with all that is stored of it; dropping a missing one
// is not an error.
func (s *Store) DropGeneration(ctx context.Context, id int64) error {
	return s.write(ctx, "drop generation", func(t *txn) error {
		for _, table := range []string{"passages", "documents", "words", "statistics"} {
			if _, err := t.ExecContext(ctx, `DELETE FROM `+table+` WHERE generation = ?`, id); err != nil {
				return err
			}
		}
		return t.run(`DELETE FROM generations WHERE id = ?`, id)
	})
}

func (t *txn) moveCheckpoint(generation, checkpoint int64) error {
	moved, err := t.Exec(`UPDATE generations SET checkpoint = ? WHERE id = ?`, checkpoint, generation)
	if err != nil {
		return err
	}
	return affected(moved, fmt.Sprintf("generation %d", generation))
}

// AddWords adds to a generation's vocabulary. It may run ahead of the
// passages: an unused word does no harm.
func (s *Store) AddWords(ctx context.Context, generation int64, words []string) error {
	return s.write(ctx, "add words", func(t *txn) error {
		for _, w := range words {
			if err := t.run(`INSERT INTO words (generation, word) VALUES (?, ?) ON CONFLICT DO NOTHING`, generation,
				catalog.Clean(w)); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropWords removes words from a generation's vocabulary.
func (s *Store) DropWords(ctx context.Context, generation int64, words []string) error {
	return s.write(ctx, "drop words", func(t *txn) error {
		for _, w := range words {
			if err := t.run(`DELETE FROM words WHERE generation = ? AND word = ?`, generation,
				catalog.Clean(w)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Words returns a generation's vocabulary, in no particular order.
func (s *Store) Words(ctx context.Context, generation int64) ([]string, error) {
	return read(ctx, s, "words", func(rows *sql.Rows) (w string, err error) { return w, rows.Scan(&w) },
		`SELECT word FROM words WHERE generation = ?`, generation)
}
