package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"almanac/catalog"
)

// A record without an end ends when it starts, one without a start starts
// when it ends.
const (
	begins = `CASE WHEN starts_at <> 0 THEN starts_at ELSE ends_at END`
	ends   = `CASE WHEN ends_at <> 0 THEN ends_at ELSE starts_at END`
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
	catalog.ByVotes:        `votes DESC, created_at DESC, id`,
	catalog.ByTitle:        `lower(title), id`,
	catalog.ByStarts:       `starts_at = 0, starts_at, id`,
	catalog.ByEnded:        ends + ` DESC, id`,
}

// columns are the SQL columns of times. TimeWindow is missing because it needs
// two.
var columns = map[catalog.TimeColumn]string{
	"":                    `created_at`,
	catalog.TimeCreated:   `created_at`,
	catalog.TimeUpdated:   `updated_at`,
	catalog.TimeActivity:  `last_activity_at`,
	catalog.TimeFirstSeen: `first_seen_at`,
	catalog.TimeStarts:    `starts_at`,
	catalog.TimeEnds:      ends,
}

// maxPattern is the length limit of SQLite's LIKE patterns, in bytes.
const maxPattern = 50_000

// List returns one page of the matching records and their number, both from the same
// state of the catalog.
func (s *Store) List(ctx context.Context, query catalog.ListQuery) (list []catalog.Record, total int, err error) {
	order, ok := orders[query.Order]
	if !ok {
		return nil, 0, fmt.Errorf("catalog: list: unknown order %q", query.Order)
	}
	c, err := listConditions(query)
	if err != nil {
		return nil, 0, err
	}
	offset := max(0, query.Offset)
	err = s.view(ctx, "list", func(q querier) error {
		if err := c.linked(ctx, q, query.LinksTo, query.Relations); err != nil {
			return err
		}
		// Ids first: sorting whole rows would carry their data along.
		ids, err := collect(ctx, q, scanID,
			`SELECT id FROM records WHERE `+c.sql()+` ORDER BY `+order+` LIMIT +? OFFSET ?`,
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

// count returns the number of matching records, without a query if the page
// already tells.
func count(ctx context.Context, q querier, c conditions, limit, offset, found int) (total int, err error) {
	if (limit <= 0 || found < limit) && (found > 0 || offset == 0) {
		return offset + found, nil
	}
	return total, q.QueryRowContext(ctx, `SELECT COUNT(*) FROM records WHERE `+c.sql(), c.args...).Scan(&total)
}

func scanID(rows *sql.Rows) (id int64, err error) { return id, rows.Scan(&id) }

// conditions builds a WHERE clause; all parts must hold.
type conditions struct {
	parts []string
	args  []any
}

func (c *conditions) add(part string, args ...any) {
	c.parts = append(c.parts, part)
	c.args = append(c.args, args...)
}

func (c *conditions) sql() string { return strings.Join(c.parts, " AND ") }

// listConditions are the conditions of a query that need no lookup in the
// catalog.
func listConditions(q catalog.ListQuery) (conditions, error) {
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
	if text := catalog.Fold(q.CategoryContains); text != "" {
		c.contains("%\n%\n%", text) // the third line of the folded text
	}
	if text := catalog.Fold(q.Text); text != "" {
		c.contains("%", text)
	}
	c.tagged(q.Tags)
	for _, tag := range q.AllTags {
		c.tagged([]string{tag})
	}
	if q.Parent != 0 {
		c.add(`parent = ? AND parent <> 0`, q.Parent)
	}
	if q.TopLevel {
		c.add(`parent = 0`)
	}
	if q.Unanswered {
		c.add(`parent = 0 AND replies = 0`)
	}
	if q.HasBody != nil {
		c.add(`(CASE WHEN body = '' THEN 0 ELSE 1 END) = ?`, number(*q.HasBody))
	}
	if q.Author != "" {
		c.add(`author = ? AND author <> ''`, catalog.Clean(q.Author))
	}
	return c, c.during(q.When, q.Since, q.Until)
}

func (c *conditions) anyOf(column string, values []string) {
	if len(values) > 0 {
		part, args := in(column, clean(values))
		c.add(part, args...)
	}
}

// tagged requires at least one of the tags.
func (c *conditions) tagged(tags []string) {
	if len(tags) > 0 {
		part, args := in("tag", clean(tags))
		c.add(`id IN (SELECT record FROM record_tags WHERE `+part+`)`, args...)
	}
}

// during restricts a time of the records to a range.
func (c *conditions) during(when catalog.TimeColumn, since, until time.Time) error {
	column, ok := columns[when]
	switch {
	case when == catalog.TimeWindow:
		c.overlap(since, until)
	case !ok:
		return fmt.Errorf("catalog: list: unknown time %q", when)
	default:
		c.between(column, since, until)
	}
	return nil
}

// between requires a known time in [since, until).
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

// overlap requires a window or a moment that overlaps [since, until). A window
// excludes its end.
func (c *conditions) overlap(since, until time.Time) {
	c.between(ends, since, time.Time{})
	if !since.IsZero() {
		at := ceilMicros(since)
		c.add(`(`+ends+` > ? OR `+begins+` >= ?)`, at, at)
	}
	c.between(begins, time.Time{}, until)
}

// contains requires a substring of the folded text, preceded by the pattern
// before.
func (c *conditions) contains(before, text string) {
	pattern := before + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
	if len(pattern) > maxPattern {
		c.add(`1 = 0`) // longer than any title
		return
	}
	c.add(`folded LIKE ? ESCAPE '\'`, pattern)
}

// linked requires a link to one of the references, under any name of the
// referenced record, but not from that record itself.
func (c *conditions) linked(ctx context.Context, q querier, refs []catalog.Ref, relations []catalog.Relation) error {
	var targets []string
	var args []any
	for _, ref := range refs {
		ref = ref.Clean()
		id, keys, err := names(ctx, q, ref)
		if err != nil {
			return err
		}
		part, values := in("to_key", keys)
		targets = append(targets, `to_kind = ? AND `+part+` AND record <> ?`)
		args = append(append(append(args, string(ref.Kind)), values...), id)
	}
	if len(targets) == 0 {
		return nil
	}
	where := `(` + strings.Join(targets, ` OR `) + `)`
	if len(relations) > 0 {
		part, values := in("relation", relations)
		where, args = where+` AND `+part, append(args, values...)
	}
	c.add(`id IN (SELECT record FROM links WHERE `+where+`)`, args...)
	return nil
}

// ceilMicros rounds up: stored times are whole microseconds, so t ≥ bound is
// equivalent to t ≥ the bound rounded up.
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

// Counts groups the live records, ordered by their values.
func (s *Store) Counts(ctx context.Context) ([]catalog.Count, error) {
	return read(ctx, s, "counts", scanCount, `SELECT kind, state, source, container, category,
	CASE WHEN parent = 0 THEN 1 ELSE 0 END AS top_level, COUNT(*)
FROM records WHERE deleted_at = 0
GROUP BY kind, state, source, container, category, top_level
ORDER BY kind, state, source, container, category, top_level`)
}

func scanCount(rows *sql.Rows) (c catalog.Count, err error) {
	var topLevel int
	err = rows.Scan(&c.Kind, &c.State, &c.Source, &c.Container, &c.Category, &topLevel, &c.N)
	c.TopLevel = topLevel == 1
	return c, err
}

// ForeignCounts returns to how many live records that another owns each source adds
// something; a source that adds nothing is left out.
func (s *Store) ForeignCounts(ctx context.Context) (map[string]int, error) {
	counts := map[string]int{}
	err := s.reading(ctx, "foreign counts", func(q querier) error {
		return pairs(ctx, q, counts, `SELECT a.source, COUNT(*)
FROM additions a JOIN records r ON r.id = a.record
WHERE r.deleted_at = 0 AND r.source <> a.source GROUP BY a.source`)
	})
	return counts, err
}

// TagCounts returns how many live records of a kind have each tag that
// begins with prefix, most first: Tag("label", …) with "label:".
func (s *Store) TagCounts(ctx context.Context, kind catalog.Kind, prefix string) ([]catalog.TagCount, error) {
	prefix = catalog.Clean(prefix)
	return read(ctx, s, "tag counts", scanTagCount, `SELECT t.tag, COUNT(*)
FROM record_tags t JOIN records r ON r.id = t.record
WHERE t.tag >= ? AND t.tag < ? AND r.kind = ? AND r.deleted_at = 0
GROUP BY t.tag ORDER BY COUNT(*) DESC, t.tag`, prefix, prefix+lastRune, catalog.Clean(string(kind)))
}

// lastRune sorts after everything else that may follow a prefix.
const lastRune = "\U0010FFFF"

func scanTagCount(rows *sql.Rows) (c catalog.TagCount, err error) { return c, rows.Scan(&c.Tag, &c.N) }
