package sqlstore

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
			_, err = t.Exec(`INSERT INTO shadows (day, live, candidate, query, count, jaccard, rbo, was, would, last_at)
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
		_, err := t.Exec(`DELETE FROM shadows WHERE day < ?`,
			catalog.Day(s.Now()).AddDate(0, 0, 1-catalog.ShadowDays).UnixMicro())
		if err == nil {
			_, err = t.Exec(`DELETE FROM shadows WHERE (day, live, candidate, query) IN (
SELECT day, live, candidate, query FROM shadows ORDER BY last_at DESC LIMIT +? OFFSET ?)`, limit(0), catalog.MaxShadows)
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
FROM (SELECT SUM(count) AS n, SUM(jaccard) AS jaccard, SUM(rbo) AS rbo, 
	CASE WHEN SUM(rbo) > SUM(count) - 1e-9 THEN 1 ELSE 0 END AS same `+of+`GROUP BY query) AS queries`, live, candidate).Scan(&total.Queries, &total.N, &total.Same, &total.Jaccard, &total.RBO)
		if err != nil {
			return err
		}
		// The lists are those of the last day.
		list, err = collect(ctx, q, scanShadow, `SELECT live, candidate, query, SUM(count), SUM(jaccard) / SUM(count),
	SUM(rbo) / SUM(count), MAX(CASE WHEN place = 1 THEN was END), MAX(CASE WHEN place = 1 THEN would END), MAX(last_at)
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY query ORDER BY last_at DESC, day DESC) AS place `+of+`) AS placed
GROUP BY live, candidate, query ORDER BY SUM(rbo) / SUM(count), SUM(count) DESC, query LIMIT +?`,
			live, candidate, limit(n))
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
