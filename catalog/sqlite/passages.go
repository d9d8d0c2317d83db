package sqlite

import (
	"context"
	"database/sql"
	"strconv"

	"almanac/catalog"
)

const passageColumns = `id, record, ordinal, anchor, section, heading, hash, terms, `

// PutPassages replaces the passages of the given records and moves the
// generation's checkpoint, in one transaction. ErrNotFound if the generation
// does not exist.
func (s *Store) PutPassages(
	ctx context.Context, generation int64, records []catalog.RecordPassages, checkpoint int64,
) error {
	return s.update(ctx, "put passages", func(t *txn) error {
		if err := t.moveCheckpoint(generation, checkpoint); err != nil {
			return err
		}
		err := chunks(records, func(part []catalog.RecordPassages) error {
			ids := make([]int64, len(part))
			for i, r := range part {
				ids[i] = r.Record
			}
			where, args := in("record", ids)
			_, err := t.ExecContext(ctx, `DELETE FROM passages WHERE generation = ? AND `+where,
				append([]any{generation}, args...)...)
			return err
		})
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := ctx.Err(); err != nil {
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
	terms := p.Terms
	if terms == nil {
		terms = []byte{} // nil would be NULL
	}
	_, err := t.exec(`INSERT INTO passages (generation, id, record, ordinal, anchor, section, heading, hash, terms, text)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		generation, p.ID, p.Record, p.Ordinal, catalog.Clean(p.Anchor), catalog.Clean(p.Section),
		catalog.Clean(p.Heading), catalog.Clean(p.Hash), terms, catalog.Clean(p.Text))
	return err
}

// Passages returns the passages with these ids, in no particular order.
func (s *Store) Passages(ctx context.Context, generation int64, ids []int64) (list []catalog.Passage, err error) {
	list, err = collect(ctx, s.reader, scanPassage,
		`SELECT `+passageColumns+`text FROM passages WHERE generation = ? AND id IN (SELECT value FROM json_each(?))`,
		generation, jsonList(ids))
	return list, s.failure(ctx, "passages", err)
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

// RecordPassages returns a record's passages by ordinal.
func (s *Store) RecordPassages(ctx context.Context, generation, record int64) ([]catalog.Passage, error) {
	list, err := collect(ctx, s.reader, scanPassage,
		`SELECT `+passageColumns+`text FROM passages WHERE generation = ? AND record = ? ORDER BY ordinal`, generation,
		record)
	return list, s.failure(ctx, "record passages", err)
}

// ScanPassages calls fn for every passage in id order until it fails. All
// passages come from one state of the database. fn should be quick: the
// write-ahead log grows as long as the scan holds that state.
func (s *Store) ScanPassages(
	ctx context.Context, generation int64, withText bool, fn func(catalog.Passage) error,
) error {
	text := `''`
	if withText {
		text = `text`
	}
	rows, err := s.reader.QueryContext(ctx,
		`SELECT `+passageColumns+text+` FROM passages WHERE generation = ? ORDER BY id`, generation)
	if err != nil {
		return s.failure(ctx, "scan passages", err)
	}
	defer rows.Close()
	for rows.Next() {
		p, err := scanPassage(rows)
		if err != nil {
			return s.failure(ctx, "scan passages", err)
		}
		if err := fn(p); err != nil {
			return err
		}
	}
	return s.failure(ctx, "scan passages", rows.Err())
}

func scanPassage(rows *sql.Rows) (p catalog.Passage, err error) {
	err = rows.Scan(&p.ID, &p.Record, &p.Ordinal, &p.Anchor, &p.Section, &p.Heading, &p.Hash, &p.Terms, &p.Text)
	if len(p.Terms) == 0 {
		p.Terms = nil
	}
	return p, err
}
