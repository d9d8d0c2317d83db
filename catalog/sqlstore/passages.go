package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

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
		if _, err := t.Exec(`DELETE FROM statistics WHERE generation = ?`, generation); err != nil {
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
