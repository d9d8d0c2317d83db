package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"almanac/catalog"
)

// CountSearches adds to the daily counts, to the bound of a day, and removes days that
// are no longer kept.
func (s *Store) CountSearches(ctx context.Context, counts []catalog.SearchCount) error {
	return s.update(ctx, "count searches", func(t *txn) error {
		rows := t.ration("searches", catalog.DaySearches)
		for _, c := range counts {
			at, query := s.counted(c.LastAt), catalog.Clean(c.Query)
			day := catalog.Day(at).UnixMicro()
			room, err := rows.admits(day, `query = ?`, query)
			if err != nil {
				return err
			}
			if !room {
				continue
			}
			_, err = t.Exec(`INSERT INTO searches
	(day, query, count, zero, corrected, degraded, took, longest, last_at, clients, visitors)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (day, query) DO UPDATE SET count = searches.count + excluded.count, zero = searches.zero + excluded.zero,
	corrected = searches.corrected + excluded.corrected, degraded = searches.degraded + excluded.degraded,
	took = searches.took + excluded.took,
	longest = CASE WHEN excluded.longest > searches.longest THEN excluded.longest ELSE searches.longest END,
	last_at = CASE WHEN excluded.last_at > searches.last_at THEN excluded.last_at ELSE searches.last_at END,
	clients = CASE WHEN excluded.clients > searches.clients THEN excluded.clients ELSE searches.clients END,
	visitors = CASE WHEN excluded.visitors > searches.visitors THEN excluded.visitors ELSE searches.visitors END`,
				day, query, c.N, c.Zero, c.Corrected, c.Degraded, c.Took.Microseconds(), c.Longest.Microseconds(),
				at.UnixMicro(), c.Clients, c.Visitors)
			if err != nil {
				return err
			}
		}
		return t.run(`DELETE FROM searches WHERE day < ?`, s.kept())
	})
}

// counted is the time of a count; it defaults to now.
func (s *Store) counted(at time.Time) time.Time {
	if at = catalog.CleanTime(at); at.IsZero() {
		return catalog.CleanTime(s.Now())
	}
	return at
}

// kept is the first day whose counts are kept.
func (s *Store) kept() int64 {
	return catalog.Day(s.Now()).AddDate(0, 0, 1-catalog.CountDays).UnixMicro()
}

// searchOrders are the columns of the orders of searches, and how those of several
// days are one.
var searchOrders = map[catalog.SearchOrder]struct{ column, sum string }{
	catalog.MostSearched: {"count", "SUM"}, catalog.MostZero: {"zero", "SUM"},
	catalog.MostCorrected: {"corrected", "SUM"}, catalog.MostDegraded: {"degraded", "SUM"},
	catalog.Slowest: {"longest", "MAX"},
}

// Searches returns searched queries in an order, and the total number of
// matching queries.
func (s *Store) Searches(
	ctx context.Context, query catalog.SearchQuery,
) (list []catalog.SearchCount, total int, err error) {
	if _, ok := searchOrders[query.Order]; !ok {
		return nil, 0, fmt.Errorf("catalog: searches have no order %q", query.Order)
	}
	list, err = read(ctx, s, "searches", func(rows *sql.Rows) (c catalog.SearchCount, err error) {
		var took, longest, at int64
		err = rows.Scan(&c.Query, &c.N, &c.Zero, &c.Corrected, &c.Degraded, &took, &longest, &at, &c.Clients, &c.Visitors,
			&c.ShownDays, &total)
		c.Took, c.Longest = time.Duration(took)*time.Microsecond, time.Duration(longest)*time.Microsecond
		c.LastAt = fromMicros(at)
		return c, err
	}, selectSearches(query.Order, query.Public), sinceDay(query.Since), limit(query.Limit))
	return list, total, err
}

// SearchDays returns how much was searched for on each day since one, oldest first;
// days without a search are left out.
func (s *Store) SearchDays(ctx context.Context, since time.Time) ([]catalog.SearchDay, error) {
	return read(ctx, s, "search days", func(rows *sql.Rows) (d catalog.SearchDay, err error) {
		var day int64
		err = rows.Scan(&day, &d.N, &d.Zero)
		d.Day = fromMicros(day)
		return d, err
	}, `SELECT day, SUM(count), SUM(zero) FROM searches WHERE day >= ? GROUP BY day ORDER BY day`, sinceDay(since))
}

// selectSearches is the statement of Searches; ?1 is the first day, ?2 the limit.
func selectSearches(order catalog.SearchOrder, public bool) string {
	by := searchOrders[order]
	from, last := `searches WHERE day >= ?1`, `last_at`
	if public {
		from, last = publicSearches(by.column), `day`
	}
	return `WITH grouped AS MATERIALIZED (SELECT query, SUM(count) AS count, SUM(zero) AS zero,
	SUM(corrected) AS corrected, SUM(degraded) AS degraded, SUM(took) AS took, MAX(longest) AS longest,
	MAX(` + last + `) AS last, MAX(clients) AS clients, MAX(visitors) AS visitors, 
	SUM(CASE WHEN visitors >= ` + publicClients + ` THEN 1 ELSE 0 END)
	FROM ` + from + ` GROUP BY query HAVING ` + by.sum + `(` + by.column + `) > 0)
SELECT *, (SELECT COUNT(*) FROM grouped) AS total FROM grouped
ORDER BY ` + by.column + ` DESC, last DESC, query LIMIT +?2`
}

// publicClients is catalog.PublicClients as the indexes searches_public and
// searches_public_zero have it: they are used by queries that say the same.
var publicClients = strconv.Itoa(catalog.PublicClients)

// publicSearches is the rows since ?1 that anybody may read. Only the first of each
// day are looked at, whatever the table holds.
func publicSearches(column string) string {
	return `(` + daysOf("searches") + ` SELECT s.* FROM days CROSS JOIN searches AS s
	WHERE s.day = days.day AND s.query IN (SELECT query FROM searches
		WHERE day = days.day AND clients >= ` + publicClients + ` AND ` + column + ` > 0
		ORDER BY ` + column + ` DESC LIMIT ` + strconv.Itoa(catalog.PublicQueries) + `)) AS public`
}

// daysOf is the days since ?1 that a table of counts has, each found by its key.
func daysOf(table string) string {
	next := `(SELECT MIN(day) FROM ` + table + ` WHERE day `
	return `WITH RECURSIVE days (day) AS (SELECT ` + next + `>= ?1)
	UNION ALL SELECT ` + next + `> days.day) FROM days WHERE days.day IS NOT NULL)`
}

// CountClicks adds to the daily counts as CountSearches does.
func (s *Store) CountClicks(ctx context.Context, counts []catalog.ClickCount) error {
	return s.update(ctx, "count clicks", func(t *txn) error {
		rows := t.ration("clicks", catalog.DayClicks)
		for _, c := range counts {
			day, query := catalog.Day(s.counted(c.LastAt)).UnixMicro(), catalog.Clean(c.Query)
			room, err := rows.admits(day, `query = ? AND record = ? AND position = ?`, query, c.Record, c.Position)
			if err != nil {
				return err
			}
			if !room {
				continue
			}
			_, err = t.Exec(`INSERT INTO clicks (day, query, record, position, shown, clicked) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (day, query, record, position)
DO UPDATE SET shown = clicks.shown + excluded.shown, clicked = clicks.clicked + excluded.clicked`,
				day, query, c.Record, c.Position, c.Shown, c.Clicked)
			if err != nil {
				return err
			}
		}
		return t.run(`DELETE FROM clicks WHERE day < ?`, s.kept())
	})
}

// Clicks returns what was shown and chosen since a day, by query, record and
// position; of the queries if some are named.
func (s *Store) Clicks(ctx context.Context, since time.Time, queries ...string) ([]catalog.ClickCount, error) {
	args := []any{sinceDay(since)}
	for _, query := range queries {
		args = append(args, query)
	}
	same := "" // one string for all rows of a query
	return read(ctx, s, "clicks", func(rows *sql.Rows) (c catalog.ClickCount, err error) {
		var day int64
		err = rows.Scan(&c.Query, &c.Record, &c.Position, &c.Shown, &c.Clicked, &day)
		if c.Query == same {
			c.Query = same
		}
		same, c.LastAt = c.Query, fromMicros(day)
		return c, err
	}, selectClicks(len(queries)), args...)
}

// selectClicks is the statement of Clicks; ?1 is the first day, the n queries
// follow. Each is looked up on each day, as the key begins with both.
func selectClicks(n int) string {
	where := `day >= ?1`
	if n > 0 {
		where = `day IN (` + daysOf("clicks") + ` SELECT day FROM days) AND query IN (` + placeholders(n) + `)`
	}
	return `SELECT query, record, position, SUM(shown), SUM(clicked), MAX(day) FROM clicks WHERE ` + where + `
GROUP BY query, record, position ORDER BY query, record, position`
}

// sinceDay is the first day that counts are read from.
func sinceDay(since time.Time) int64 {
	if since.IsZero() {
		return 0
	}
	return catalog.Day(since).UnixMicro()
}

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
		return t.run(`DELETE FROM csp_reports WHERE day < ?`, s.kept())
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

// ration bounds the rows of each day in a table of counts.
type ration struct {
	t     *txn
	table string
	most  int
	rows  map[int64]int // by day
}

func (t *txn) ration(table string, most int) *ration {
	return &ration{t, table, most, map[int64]int{}}
}

// admits reports whether a row of a day may be written: it is there already, or
// the day has room for it. key selects it among those of the day.
func (r *ration) admits(day int64, key string, args ...any) (bool, error) {
	there, err := r.count(day, ` AND `+key, args...)
	if err != nil || there > 0 {
		return there > 0, err
	}
	if _, known := r.rows[day]; !known {
		if r.rows[day], err = r.count(day, ``); err != nil {
			return false, err
		}
	}
	if r.rows[day] >= r.most {
		return false, nil
	}
	r.rows[day]++
	return true, nil
}

func (r *ration) count(day int64, and string, args ...any) (n int, err error) {
	row := r.t.QueryRow(`SELECT COUNT(*) FROM `+r.table+` WHERE day = ?`+and, append([]any{day}, args...)...)
	return n, row.Scan(&n)
}
