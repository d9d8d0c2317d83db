package sqlstore

import (
	"context"
	"database/sql"
	"time"

	"almanac/catalog"
)

// CountViolations adds to the daily counts as CountSearches does. Addresses for which a day has no room
// are counted as others.
func (s *Store) CountViolations(ctx context.Context, counts []catalog.Violation) error {
	return s.update(ctx, "count violations", func(t *txn) error {
		rows := t.ration("csp_reports", catalog.DayViolations)
		for _, c := range counts {
			at, directive, blocked := s.counted(c.LastAt), catalog.Clean(c.Directive), catalog.Clean(c.Blocked)
			day := catalog.Day(at).UnixMicro()
			room, err := rows.admits(day, `directive = ? AND blocked_uri = ?`, directive, blocked)
			if err != nil {
				return err
			}
			if !room {
				blocked = catalog.OtherAddress
			}
			_, err = t.Exec(`INSERT INTO csp_reports (day, directive, blocked_uri, count, last_at, clients)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (day, directive, blocked_uri) DO UPDATE SET count = csp_reports.count + excluded.count,
	last_at = CASE WHEN excluded.last_at > csp_reports.last_at THEN excluded.last_at ELSE csp_reports.last_at END,
	clients = CASE WHEN excluded.clients > csp_reports.clients THEN excluded.clients ELSE csp_reports.clients END`,
				day, directive, blocked, c.N, at.UnixMicro(), c.Clients)
			if err != nil {
				return err
			}
		}
		_, err := t.Exec(`DELETE FROM csp_reports WHERE day < ?`, s.kept())
		return err
	})
}

// Violations returns what the content security policy blocked since a day,
// most first.
func (s *Store) Violations(ctx context.Context, since time.Time) ([]catalog.Violation, error) {
	return read(ctx, s, "violations", scanViolation, `SELECT directive, blocked_uri, SUM(count), MAX(last_at), MAX(clients)
FROM csp_reports WHERE day >= ? GROUP BY directive, blocked_uri
ORDER BY SUM(count) DESC, MAX(last_at) DESC, directive, blocked_uri`, sinceDay(since))
}

func scanViolation(rows *sql.Rows) (v catalog.Violation, err error) {
	var at int64
	err = rows.Scan(&v.Directive, &v.Blocked, &v.N, &at, &v.Clients)
	v.LastAt = fromMicros(at)
	return v, err
}
