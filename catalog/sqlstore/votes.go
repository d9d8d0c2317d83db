package sqlstore

import (
	"context"
	"database/sql"

	"almanac/catalog"
)

const selectVotes = `SELECT v.record, v.voter, v.choice, v.reason, v.cast_at, v.url
FROM votes v JOIN records r ON r.id = v.record WHERE `

// VotesOn returns the votes on a record ordered by time, then voter.
func (s *Store) VotesOn(ctx context.Context, record int64) ([]catalog.Vote, error) {
	return read(ctx, s, "votes on", scanVote,
		selectVotes+`v.record = ? AND r.deleted_at = 0 ORDER BY v.cast_at, v.voter, v.position`, record)
}

// VotesBy returns a voter's votes on live records of a kind, newest first;
// an empty voter means all voters.
func (s *Store) VotesBy(ctx context.Context, kind catalog.Kind, voter string) ([]catalog.Vote, error) {
	where, args := `r.kind = ? AND r.deleted_at = 0`, []any{catalog.Clean(string(kind))}
	if voter != "" {
		where, args = where+` AND lower(v.voter) = ?`, append(args, lower(catalog.Clean(voter)))
	}
	return read(ctx, s, "votes by", scanVote, selectVotes+where+` ORDER BY v.cast_at DESC, v.record, v.position`,
		args...)
}

func scanVote(rows *sql.Rows) (v catalog.Vote, err error) {
	var at int64
	err = rows.Scan(&v.Record, &v.Voter, &v.Choice, &v.Reason, &at, &v.URL)
	v.CastAt = fromMicros(at)
	return v, err
}

func (t *txn) putVotes(record int64, votes []catalog.Vote) error {
	for i, v := range votes {
		_, err := t.Exec(`INSERT INTO votes (record, position, voter, choice, reason, cast_at, url)
VALUES (?, ?, ?, ?, ?, ?, ?)`, record, i, v.Voter, v.Choice, v.Reason, micros(v.CastAt), v.URL)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *txn) dropVotes(record int64) error {
	_, err := t.Exec(`DELETE FROM votes WHERE record = ?`, record)
	return err
}
