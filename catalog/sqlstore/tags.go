package sqlstore

import (
	"context"

	"almanac/catalog"
)

// addTags fills the tags of records, in order.
func addTags(ctx context.Context, q querier, records []catalog.Record) error {
	index := make(map[int64]int, len(records))
	ids := make([]int64, len(records))
	for i, r := range records {
		index[r.ID], ids[i] = i, r.ID
	}
	return chunks(ids, func(part []int64) error {
		where, args := in("record", part)
		rows, err := q.QueryContext(ctx, `SELECT record, tag FROM record_tags WHERE `+where+` ORDER BY record, tag`,
			args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			var tag string
			if err := rows.Scan(&id, &tag); err != nil {
				return err
			}
			r := &records[index[id]]
			r.Tags = append(r.Tags, tag)
		}
		return rows.Err()
	})
}

func (t *txn) putTags(record int64, tags []string) error {
	for _, tag := range tags {
		if _, err := t.Exec(`INSERT INTO record_tags (record, tag) VALUES (?, ?)`, record, tag); err != nil {
			return err
		}
	}
	return nil
}

func (t *txn) dropTags(record int64) error {
	_, err := t.Exec(`DELETE FROM record_tags WHERE record = ?`, record)
	return err
}
