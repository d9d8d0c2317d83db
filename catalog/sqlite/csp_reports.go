package sqlite

import (
	"context"
	"database/sql"
	"time"

	"almanac/catalog"
)

// CountViolations adds to the daily counts.
func (s *Store) CountViolations(ctx context.Context, counts []catalog.Violation) error {
	return s.update(ctx, "count violations", func(t *txn) error {
		for _, c := range counts {
			at := s.counted(c.LastAt)
			_, err := t.exec(`INSERT INTO csp_reports (day, directive, blocked_uri, count, last_at)
VALUES (?, ?, ?, ?, ?)
ON CONFLICT (day, directive, blocked_uri) DO UPDATE SET count = csp_reports.count + excluded.count,
	last_at = CASE WHEN excluded.last_at > csp_reports.last_at THEN excluded.last_at ELSE csp_reports.last_at END`,
				catalog.Day(at).UnixMicro(), catalog.Clean(c.Directive), catalog.Clean(c.Blocked), c.N, at.UnixMicro())
			if err != nil {
				return err
			}
		}
		_, err := t.exec(`DELETE FROM csp_reports WHERE day < ?`, s.kept())
		return err
	})
}

// Violations returns the violations, by directive, most first.
func (s *Store) Violations(ctx context.Context, since time.Time, top int) ([]catalog.DirectiveCount, error) {
	rows, err := read(ctx, s, "violations", scanViolation, `SELECT directive, blocked_uri, n, last_at, total, newest FROM (
	SELECT directive, blocked_uri, SUM(count) AS n, MAX(last_at) AS last_at,
		SUM(SUM(count)) OVER (PARTITION BY directive) AS total,
		MAX(MAX(last_at)) OVER (PARTITION BY directive) AS newest,
		ROW_NUMBER() OVER (PARTITION BY directive ORDER BY SUM(count) DESC, MAX(last_at) DESC, blocked_uri) AS place
	FROM csp_reports WHERE day >= ? GROUP BY directive, blocked_uri) AS ranked
WHERE place <= ? ORDER BY total DESC, directive, place`, sinceDay(since), limit(top))
	var list []catalog.DirectiveCount
	for _, r := range rows {
		if len(list) == 0 || list[len(list)-1].Directive != r.Directive {
			list = append(list, catalog.DirectiveCount{Directive: r.Directive, N: r.total, LastAt: r.newest})
		}
		d := &list[len(list)-1]
		d.Top = append(d.Top, r.Violation)
	}
	return list, err
}

// rankedViolation is a violation with the totals of its directive.
type rankedViolation struct {
	catalog.Violation
	total  int
	newest time.Time
}

func scanViolation(rows *sql.Rows) (v rankedViolation, err error) {
	var at, newest int64
	err = rows.Scan(&v.Directive, &v.Blocked, &v.N, &at, &v.total, &newest)
	v.LastAt, v.newest = fromMicros(at), fromMicros(newest)
	return v, err
}
