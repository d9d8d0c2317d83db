package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"almanac/catalog"
)

// orders are the ORDER BY clauses of lists. Unknown times sort last.
var orders = map[catalog.Order]string{
	"":                     `key_order, id`,
	catalog.ByKey:          `key_order, id`,
	catalog.ByKeyDesc:      `key_order DESC, id`,
	catalog.ByCreated:      `created_at DESC, id`,
	catalog.ByUpdated:      `updated_at DESC, id`,
	catalog.ByLastActivity: `last_activity_at DESC, id`,
	catalog.ByFirstSeen:    `first_seen_at DESC, id`,
	catalog.ByViews:        `views DESC, id`,
	catalog.ByVotes:        `votes DESC, id`,
	catalog.ByTitle:        `lower(title), id`,
	catalog.ByStarts:       `starts_at = 0, starts_at, id`,
}

// maxPattern is what SQLite's LIKE takes at most, in bytes.
const maxPattern = 50_000

// List returns one page of the matching records and their number. Page and
// number are of the same moment.
func (s *Store) List(ctx context.Context, query catalog.ListQuery) (list []catalog.Record, total int, err error) {
	order, ok := orders[query.Order]
	if !ok {
		return nil, 0, fmt.Errorf("catalog: list: unknown order %q", query.Order)
	}
	c := listConditions(query)
	offset := max(0, query.Offset)
	err = s.view(ctx, "list", func(q querier) error {
		// Ids first: sorting whole rows would carry their data along.
		ids, err := collect(ctx, q, scanID, `SELECT id FROM records WHERE `+c.sql()+` ORDER BY `+order+` LIMIT ? OFFSET ?`,
			append(c.args, limit(query.Limit), offset)...)
		if err != nil {
			return err
		}
		if total, err = count(ctx, q, c, query.Limit, offset, len(ids)); err != nil {
			return err
		}
		list, err = loadRecords(ctx, q, ids, query.WithBody)
		return err
	})
	return list, total, err
}

// count returns how many records match, without a query where the page tells.
func count(ctx context.Context, q querier, c conditions, limit, offset, found int) (total int, err error) {
	if (limit <= 0 || found < limit) && (found > 0 || offset == 0) {
		return offset + found, nil
	}
	return total, q.QueryRowContext(ctx, `SELECT COUNT(*) FROM records WHERE `+c.sql(), c.args...).Scan(&total)
}

func scanID(rows *sql.Rows) (id int64, err error) { return id, rows.Scan(&id) }

// conditions is a WHERE clause in the making: all parts must hold.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(part string, args ...any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, args...)
}

func (c *conditions) sql() string { return strings.Join(c.parts, " AND ") }

func listConditions(q catalog.ListQuery) conditions {
	c := conditions{parts: []string{`deleted_at = 0`}}
	c.anyOf("kind", texts(q.Kinds))
	c.anyOf("source", q.Sources)
	for _, f := range []struct {
		column string
		values []string
	}{{"container", q.Containers}, {"state", q.States}, {"category", q.Categories}} {
		if len(f.values) > 0 {
			part, args := inFolded(f.column, f.values)
			c.add(part, args...)
		}
	}
	if len(q.Tags) > 0 {
		part, args := in("tag", clean(q.Tags))
		c.add(`id IN (SELECT record FROM record_tags WHERE `+part+`)`, args...)
	}
	if q.Parent != 0 {
		c.add(`parent = ? AND parent <> 0`, q.Parent)
	}
	if q.TopLevel {
		c.add(`parent = 0`)
	}
	if q.Author != "" {
		c.add(`author = ? AND author <> ''`, catalog.Clean(q.Author))
	}
	c.between("created_at", q.Since, q.Until)
	if text := catalog.Fold(q.Text); text != "" {
		c.contains("folded", text)
	}
	return c
}

func (c *conditions) anyOf(column string, values []string) {
	if len(values) > 0 {
		part, args := in(column, clean(values))
		c.add(part, args...)
	}
}

// between asks for a known time in [since, until).
func (c *conditions) between(column string, since, until time.Time) {
	if !since.IsZero() || !until.IsZero() {
		c.add(column + ` <> 0`)
	}
	if !since.IsZero() {
		c.add(column+` >= ?`, ceilMicros(since))
	}
	if !until.IsZero() {
		c.add(column+` < ?`, ceilMicros(until))
	}
}

// contains asks for a substring.
func (c *conditions) contains(column, text string) {
	pattern := "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
	if len(pattern) > maxPattern {
		c.add(`1 = 0`) // longer than any title
		return
	}
	c.add(column+` LIKE ? ESCAPE '\'`, pattern)
}

// ceilMicros rounds up: a stored time is whole microseconds, so t ≥ bound
// holds for it exactly when it holds for the bound rounded up.
func ceilMicros(t time.Time) int64 { return t.Add(time.Microsecond - 1).UnixMicro() }

func texts(kinds []catalog.Kind) []string {
	list := make([]string, len(kinds))
	for i, k := range kinds {
		list[i] = string(k)
	}
	return list
}

func clean(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = catalog.Clean(s)
	}
	return out
}

// Counts groups the live records, ordered by the groups' values.
func (s *Store) Counts(ctx context.Context) ([]catalog.Count, error) {
	list, err := collect(ctx, s.reader, scanCount, `SELECT kind, state, source, container, CASE WHEN parent = 0 THEN 1 ELSE 0 END AS top_level, COUNT(*)
FROM records WHERE deleted_at = 0
GROUP BY kind, state, source, container, top_level
ORDER BY kind, state, source, container, top_level`)
	return list, s.failure(ctx, "counts", err)
}

func scanCount(rows *sql.Rows) (c catalog.Count, err error) {
	var topLevel int
	err = rows.Scan(&c.Kind, &c.State, &c.Source, &c.Container, &topLevel, &c.N)
	c.TopLevel = topLevel == 1
	return c, err
}
