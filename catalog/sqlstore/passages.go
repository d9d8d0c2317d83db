package sqlstore

import (
	"context"
	"database/sql"
	"strconv"

	"almanac/catalog"
)

const passageColumns = `id, record, ordinal, anchor, section, heading, text`

// PutPassages replaces the passages and documents of the given records and moves
// the generation's checkpoint, in one transaction. ErrNotFound if the generation
// does not exist.
func (s *Store) PutPassages(
	ctx context.Context, generation int64, records []catalog.RecordPassages, checkpoint int64,
) error {
	return s.write(ctx, "put passages", func(t *txn) error {
		if err := t.moveCheckpoint(generation, checkpoint); err != nil {
			return err
		}
		err := chunks(records, func(part []catalog.RecordPassages) error {
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
		for _, r := range records {
			if err := ctx.Err(); err != nil {
				return err
			}
			if len(r.Passages) == 0 {
				continue
			}
			_, err := t.Exec(`INSERT INTO documents (generation, record, data) VALUES (?, ?, ?)`,
				generation, r.Record, []byte(r.Document))
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
	_, err := t.Exec(`INSERT INTO passages (generation, id, record, ordinal, anchor, section, heading, text)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		generation, p.ID, p.Record, p.Ordinal, catalog.Clean(p.Anchor), catalog.Clean(p.Section),
		catalog.Clean(p.Heading), catalog.Clean(p.Text))
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
	err = rows.Scan(&p.ID, &p.Record, &p.Ordinal, &p.Anchor, &p.Section, &p.Heading, &p.Text)
	return p, err
}

// ScanDocuments calls fn for every document in the order of records until it
// fails. All documents come from one state of the database. fn should be quick:
// the write-ahead log grows as long as the scan holds that state.
func (s *Store) ScanDocuments(
	ctx context.Context, generation int64, fn func(record int64, data []byte) error,
) error {
	return s.reading(ctx, "scan documents", func(q querier) error {
		rows, err := q.QueryContext(ctx, `SELECT record, data FROM documents WHERE generation = ? ORDER BY record`,
			generation)
		if err != nil {
			return err
		}
		defer rows.Close()
		var record int64
		var data sql.RawBytes
		for rows.Next() {
			if err := rows.Scan(&record, &data); err != nil {
				return err
			}
			if err := fn(record, data); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}
