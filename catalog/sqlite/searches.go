package sqlite

import (
	"context"
	"database/sql"
	"time"

	"almanac/catalog"
)

// CountSearches adds to the daily counts.
func (s *Store) CountSearches(ctx context.Context, counts []catalog.SearchCount) error {
	return s.update(ctx, "count searches", func(t *txn) error {
		for _, c := range counts {
			at := s.counted(c.LastAt)
			_, err := t.exec(`INSERT INTO searches (day, query, count, zero, last_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (day, query) DO UPDATE SET count = searches.count + excluded.count, zero = searches.zero + excluded.zero,
	last_at = CASE WHEN excluded.last_at > searches.last_at THEN excluded.last_at ELSE searches.last_at END`,
				catalog.Day(at).UnixMicro(), catalog.Clean(c.Query), c.N, c.Zero, at.UnixMicro())
			if err != nil {
				return err
			}
		}
		_, err := t.exec(`DELETE FROM searches WHERE day < ?`, s.kept())
		return err
	})
}

// counted is the time of a count; it defaults to now.
func (s *Store) counted(at time.Time) time.Time {
	if at = catalog.CleanTime(at); at.IsZero() {
		return catalog.CleanTime(s.now())
	}
	return at
}

// kept is the first day whose counts are kept.
func (s *Store) kept() int64 {
	return catalog.Day(s.now()).AddDate(0, 0, 1-catalog.CountDays).UnixMicro()
}

// Searches returns searched queries, most often first.
func (s *Store) Searches(
	ctx context.Context, query catalog.SearchQuery,
) (list []catalog.SearchCount, total int, err error) {
	most, having := `SUM(count)`, ``
	if query.ZeroOnly {
		most, having = `SUM(zero)`, ` HAVING SUM(zero) > 0`
	}
	grouped := `FROM searches WHERE day >= ? GROUP BY query` + having
	since := sinceDay(query.Since)
	err = s.view(ctx, "searches", func(q querier) error {
		err := q.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT query `+grouped+`) AS matching`, since).Scan(&total)
		if err != nil {
			return err
		}
		list, err = collect(ctx, q, scanSearch, `SELECT query, SUM(count), SUM(zero), MAX(last_at) `+grouped+
			` ORDER BY `+most+` DESC, MAX(last_at) DESC, query LIMIT ?`, since, limit(query.Limit))
		return err
	})
	return list, total, err
}

// sinceDay is the first day that counts are read from.
func sinceDay(since time.Time) int64 {
	if since.IsZero() {
		return 0
	}
	return catalog.Day(since).UnixMicro()
}

func scanSearch(rows *sql.Rows) (c catalog.SearchCount, err error) {
	var at int64
	err = rows.Scan(&c.Query, &c.N, &c.Zero, &at)
	c.LastAt = fromMicros(at)
	return c, err
}
