package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"almanac/catalog"
)

// CountSearches adds to the daily counts.
func (s *Store) CountSearches(ctx context.Context, counts []catalog.SearchCount) error {
	return s.update(ctx, "count searches", func(t *txn) error {
		for _, c := range counts {
			at := s.counted(c.LastAt)
			_, err := t.exec(`INSERT INTO searches (day, query, count, zero, corrected, degraded, took, longest, last_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (day, query) DO UPDATE SET count = searches.count + excluded.count, zero = searches.zero + excluded.zero,
	corrected = searches.corrected + excluded.corrected, degraded = searches.degraded + excluded.degraded,
	took = searches.took + excluded.took,
	longest = CASE WHEN excluded.longest > searches.longest THEN excluded.longest ELSE searches.longest END,
	last_at = CASE WHEN excluded.last_at > searches.last_at THEN excluded.last_at ELSE searches.last_at END`,
				catalog.Day(at).UnixMicro(), catalog.Clean(c.Query), c.N, c.Zero, c.Corrected, c.Degraded,
				c.Took.Microseconds(), c.Longest.Microseconds(), at.UnixMicro())
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

// searchOrders are the columns of the orders of searches, and how those of several days
// are one.
var searchOrders = map[catalog.SearchOrder]string{
	catalog.MostSearched: `SUM(count)`, catalog.MostZero: `SUM(zero)`, catalog.MostCorrected: `SUM(corrected)`,
	catalog.MostDegraded: `SUM(degraded)`, catalog.Slowest: `MAX(longest)`,
}

// Searches returns searched queries in an order.
func (s *Store) Searches(
	ctx context.Context, query catalog.SearchQuery,
) (list []catalog.SearchCount, total int, err error) {
	most, ok := searchOrders[query.Order]
	if !ok {
		return nil, 0, fmt.Errorf("catalog: searches have no order %q", query.Order)
	}
	grouped := `FROM searches WHERE day >= ? GROUP BY query HAVING ` + most + ` > 0`
	since := sinceDay(query.Since)
	err = s.view(ctx, "searches", func(q querier) error {
		err := q.QueryRowContext(ctx, `SELECT COUNT(*) FROM (SELECT query `+grouped+`) AS matching`, since).Scan(&total)
		if err != nil {
			return err
		}
		list, err = collect(ctx, q, scanSearch, `SELECT query, SUM(count), SUM(zero), SUM(corrected), SUM(degraded),
	SUM(took), MAX(longest), MAX(last_at) `+grouped+` ORDER BY `+most+` DESC, MAX(last_at) DESC, query LIMIT +?`,
			since, limit(query.Limit))
		return err
	})
	return list, total, err
}

// CountClicks adds to the daily counts.
func (s *Store) CountClicks(ctx context.Context, counts []catalog.ClickCount) error {
	return s.update(ctx, "count clicks", func(t *txn) error {
		for _, c := range counts {
			_, err := t.exec(`INSERT INTO clicks (day, query, record, position, shown, clicked) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (day, query, record, position)
DO UPDATE SET shown = clicks.shown + excluded.shown, clicked = clicks.clicked + excluded.clicked`,
				catalog.Day(s.counted(c.LastAt)).UnixMicro(), catalog.Clean(c.Query), c.Record, c.Position, c.Shown, c.Clicked)
			if err != nil {
				return err
			}
		}
		_, err := t.exec(`DELETE FROM clicks WHERE day < ?`, s.kept())
		return err
	})
}

// Clicks returns what was shown and chosen.
func (s *Store) Clicks(ctx context.Context, query string, since time.Time) ([]catalog.ClickCount, error) {
	return read(ctx, s, "clicks", func(rows *sql.Rows) (c catalog.ClickCount, err error) {
		var day int64
		err = rows.Scan(&c.Query, &c.Record, &c.Position, &c.Shown, &c.Clicked, &day)
		c.LastAt = fromMicros(day)
		return c, err
	}, `SELECT query, record, position, SUM(shown), SUM(clicked), MAX(day) FROM clicks WHERE day >= ? AND ? IN ('', query)
GROUP BY query, record, position ORDER BY query, record, position`, sinceDay(since), query)
}

// sinceDay is the first day that counts are read from.
func sinceDay(since time.Time) int64 {
	if since.IsZero() {
		return 0
	}
	return catalog.Day(since).UnixMicro()
}

func scanSearch(rows *sql.Rows) (c catalog.SearchCount, err error) {
	var took, longest, at int64
	err = rows.Scan(&c.Query, &c.N, &c.Zero, &c.Corrected, &c.Degraded, &took, &longest, &at)
	c.Took, c.Longest = time.Duration(took)*time.Microsecond, time.Duration(longest)*time.Microsecond
	c.LastAt = fromMicros(at)
	return c, err
}
