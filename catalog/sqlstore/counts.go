package sqlstore

import (
	"context"
	"database/sql"

	"almanac/catalog"
)

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
	into := func(rows *sql.Rows) (none struct{}, err error) {
		var source string
		var n int
		err = rows.Scan(&source, &n)
		counts[source] = n
		return none, err
	}
	_, err := read(ctx, s, "foreign counts", into, `SELECT a.source, COUNT(*)
FROM additions a JOIN records r ON r.id = a.record
WHERE r.deleted_at = 0 AND r.source <> a.source GROUP BY a.source`)
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
