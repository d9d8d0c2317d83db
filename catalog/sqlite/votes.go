package sqlite

import (
	"context"
	"database/sql"

	"almanac/catalog"
)

// VotesOn returns the votes on a live record ordered by time, then voter.
func (s *Store) VotesOn(ctx context.Context, record int64) ([]catalog.Vote, error) {
	list, err := collect(ctx, s.reader, scanVote, `SELECT v.record, v.voter, v.choice, v.reason, v.cast_at, v.url
FROM votes v JOIN records r ON r.id = v.record
WHERE v.record = ? AND r.deleted_at = 0 ORDER BY v.cast_at, v.voter, v.position`, record)
	return list, s.failure(ctx, "votes on", err)
}

func scanVote(rows *sql.Rows) (v catalog.Vote, err error) {
	var at int64
	err = rows.Scan(&v.Record, &v.Voter, &v.Choice, &v.Reason, &at, &v.URL)
	v.CastAt = fromMicros(at)
	return v, err
}

func (t *txn) putVotes(record int64, votes []catalog.Vote) error {
	for i, v := range votes {
		_, err := t.exec(`INSERT INTO votes (record, position, voter, choice, reason, cast_at, url) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			record, i, v.Voter, v.Choice, v.Reason, micros(v.CastAt), v.URL)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *txn) dropVotes(record int64) error {
	_, err := t.exec(`DELETE FROM votes WHERE record = ?`, record)
	return err
}
