package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"almanac/catalog"
)

// CountShadows adds to what shadow searches found.
func (s *Store) CountShadows(ctx context.Context, counts []catalog.ShadowCount) error {
	return s.update(ctx, "count shadow searches", func(t *txn) error {
		for _, c := range counts {
			at := s.counted(c.LastAt)
			was, err := json.Marshal(c.Was)
			if err != nil {
				return err
			}
			would, err := json.Marshal(c.Would)
			if err != nil {
				return err
			}
			_, err = t.exec(`INSERT INTO shadows (day, live, candidate, query, count, jaccard, rbo, was, would, last_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (day, live, candidate, query) DO UPDATE SET count = shadows.count + excluded.count,
	jaccard = shadows.jaccard + excluded.jaccard, rbo = shadows.rbo + excluded.rbo, was = excluded.was,
	would = excluded.would, last_at = excluded.last_at`,
				catalog.Day(at).UnixMicro(), catalog.Clean(c.Live), catalog.Clean(c.Candidate), catalog.Clean(c.Query),
				c.N, c.Jaccard, c.RBO, string(was), string(would), at.UnixMicro())
			if err != nil {
				return err
			}
		}
		_, err := t.exec(`DELETE FROM shadows WHERE day < ?`,
			catalog.Day(s.now()).AddDate(0, 0, 1-catalog.ShadowDays).UnixMicro())
		if err == nil {
			_, err = t.exec(`DELETE FROM shadows WHERE (day, live, candidate, query) IN (
SELECT day, live, candidate, query FROM shadows ORDER BY last_at DESC LIMIT -1 OFFSET ?)`, catalog.MaxShadows)
		}
		return err
	})
}

// Shadows returns what a candidate changed.
func (s *Store) Shadows(
	ctx context.Context, live, candidate string, n int,
) (list []catalog.ShadowCount, total catalog.ShadowTotal, err error) {
	const of = `FROM shadows WHERE live = ? AND candidate = ? `
	err = s.view(ctx, "shadow searches", func(q querier) error {
		err := q.QueryRowContext(ctx, `SELECT COUNT(*), COALESCE(SUM(n), 0), COALESCE(SUM(same), 0),
	COALESCE(SUM(jaccard) / SUM(n), 0), COALESCE(SUM(rbo) / SUM(n), 0)
FROM (SELECT SUM(count) AS n, SUM(jaccard) AS jaccard, SUM(rbo) AS rbo, SUM(rbo) > SUM(count) - 1e-9 AS same `+of+
			`GROUP BY query)`, live, candidate).Scan(&total.Queries, &total.N, &total.Same, &total.Jaccard, &total.RBO)
		if err != nil {
			return err
		}
		// The lists are those of the row with the greatest last_at, as SQLite promises
		// for queries with one MAX.
		list, err = collect(ctx, q, scanShadow, `SELECT live, candidate, query, SUM(count), SUM(jaccard) / SUM(count),
	SUM(rbo) / SUM(count), was, would, MAX(last_at) `+of+
			`GROUP BY query ORDER BY SUM(rbo) / SUM(count), SUM(count) DESC, query LIMIT +?`, live, candidate, limit(n))
		return err
	})
	return list, total, err
}

func scanShadow(rows *sql.Rows) (c catalog.ShadowCount, err error) {
	var was, would string
	var at int64
	if err = rows.Scan(&c.Live, &c.Candidate, &c.Query, &c.N, &c.Jaccard, &c.RBO, &was, &would, &at); err != nil {
		return c, err
	}
	c.LastAt = fromMicros(at)
	for into, text := range map[*[]int64]string{&c.Was: was, &c.Would: would} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			return c, fmt.Errorf("shadow search of %q: %w", c.Query, err)
		}
	}
	return c, nil
}
