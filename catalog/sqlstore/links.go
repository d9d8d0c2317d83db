package sqlstore

import (
	"context"
	"database/sql"
	"slices"

	"almanac/catalog"
)

// selectLinks selects links of live records, the owner's before those added by
// other sources.
const selectLinks = `SELECT l.record, l.source, l.relation, l.to_kind, l.to_key, l.snippet
FROM links l JOIN records r ON r.id = l.record WHERE r.deleted_at = 0 AND `

const linkOrder = ` ORDER BY l.record, l.source <> r.source, l.source, l.position`

// LinksFrom returns the links of a record, in stored order.
func (s *Store) LinksFrom(ctx context.Context, record int64, relations ...catalog.Relation) ([]catalog.Link, error) {
	return s.links(ctx, "links from", `l.record = ?`, []any{record}, relations)
}

// LinksFromAll returns the links of several records, by record id, each
// record's in stored order.
func (s *Store) LinksFromAll(
	ctx context.Context, records []int64, relations ...catalog.Relation,
) (list []catalog.Link, err error) {
	ids := slices.Clone(records)
	slices.Sort(ids)
	err = chunks(slices.Compact(ids), func(part []int64) error {
		where, args := in("l.record", part)
		links, err := s.links(ctx, "links from all", where, args, relations)
		list = append(list, links...)
		return err
	})
	return list, err
}

// LinksTo returns the links of live records that point to exactly this
// reference, by record id. ListQuery.LinksTo resolves aliases.
func (s *Store) LinksTo(ctx context.Context, ref catalog.Ref, relations ...catalog.Relation) ([]catalog.Link, error) {
	ref = ref.Clean()
	return s.links(ctx, "links to", `l.to_kind = ? AND l.to_key = ?`, []any{string(ref.Kind), ref.Key}, relations)
}

// LinksByRelation returns every link of live records with the relation.
func (s *Store) LinksByRelation(ctx context.Context, relation catalog.Relation) ([]catalog.Link, error) {
	return s.links(ctx, "links by relation", `l.relation = ?`, []any{string(relation)}, nil)
}

func (s *Store) links(
	ctx context.Context, op, where string, args []any, relations []catalog.Relation,
) ([]catalog.Link, error) {
	if len(relations) > 0 {
		part, values := in("l.relation", relations)
		where, args = where+` AND `+part, append(args, values...)
	}
	rows, err := read(ctx, s, op, scanLink, selectLinks+where+linkOrder, args...)
	return distinct(rows), err
}

// sourcedLink is a link with the source that gave it.
type sourcedLink struct {
	catalog.Link
	source string
}

func scanLink(rows *sql.Rows) (l sourcedLink, err error) {
	return l, rows.Scan(&l.From, &l.source, &l.Relation, &l.To.Kind, &l.To.Key, &l.Snippet)
}

// distinct drops links that an earlier source already has. Repetitions within
// one source are kept: each has its own snippet.
func distinct(rows []sourcedLink) []catalog.Link {
	type identity struct {
		from     int64
		relation catalog.Relation
		to       catalog.Ref
	}
	var links []catalog.Link
	first := make(map[identity]string, len(rows))
	for _, l := range rows {
		id := identity{l.From, l.Relation, l.To}
		if source, ok := first[id]; ok && source != l.source {
			continue
		}
		first[id] = l.source
		links = append(links, l.Link)
	}
	return links
}

func (t *txn) putLinks(record int64, source string, links []catalog.Link) error {
	for i, l := range links {
		_, err := t.Exec(`INSERT INTO links (record, source, position, relation, to_kind, to_key, snippet)
VALUES (?, ?, ?, ?, ?, ?, ?)`,
			record, source, i, string(l.Relation), string(l.To.Kind), l.To.Key, l.Snippet)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *txn) dropLinks(record int64, source string) error {
	_, err := t.Exec(`DELETE FROM links WHERE record = ? AND source = ?`, record, source)
	return err
}
