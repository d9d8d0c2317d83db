package sqlstore

import "context"

// lookAdditions reads the hashes of the source's additions to the records.
func (a *application) lookAdditions(ctx context.Context, records []int64) error {
	return chunks(records, func(part []int64) error {
		where, args := in("record", part)
		rows, err := a.QueryContext(ctx, `SELECT record, hash FROM additions WHERE source = ? AND `+where,
			append([]any{a.source}, args...)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			var hash string
			if err := rows.Scan(&id, &hash); err != nil {
				return err
			}
			a.added[id] = hash
		}
		return rows.Err()
	})
}

func (t *txn) putAddition(record int64, source, hash string) error {
	_, err := t.Exec(`INSERT INTO additions (source, record, hash) VALUES (?, ?, ?)`, source, record, hash)
	return err
}

func (t *txn) dropAddition(record int64, source string) error {
	_, err := t.Exec(`DELETE FROM additions WHERE source = ? AND record = ?`, source, record)
	return err
}
