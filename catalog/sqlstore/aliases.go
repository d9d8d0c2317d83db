package sqlstore

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"almanac/catalog"
)

// Aliases returns the other names of a live record, from all sources.
func (s *Store) Aliases(ctx context.Context, record int64) ([]string, error) {
	return read(ctx, s, "aliases", scanText, `SELECT DISTINCT a.alias
FROM record_aliases a JOIN records r ON r.id = a.record
WHERE a.record = ? AND r.deleted_at = 0 ORDER BY a.alias`, record)
}

func scanText(rows *sql.Rows) (text string, err error) { return text, rows.Scan(&text) }

// names finds the live record that has the reference as its key or alias, 0 if
// there is none, and all its keys.
func names(ctx context.Context, q querier, ref catalog.Ref) (id int64, keys []string, err error) {
	ids, err := named(ctx, q, ref.Kind, []string{ref.Key})
	if err != nil {
		return 0, nil, err
	}
	id = ids[ref.Key]
	keys, err = collect(ctx, q, scanText, `SELECT key FROM records WHERE id = ?
UNION SELECT alias FROM record_aliases WHERE record = ?`, id, id)
	return id, append(keys, ref.Key), err
}

// named finds the live records of a kind that have one of the names as their
// key or, if none has, as an alias.
func named(ctx context.Context, q querier, kind catalog.Kind, names []string) (map[string]int64, error) {
	found := make(map[string]int64, len(names))
	err := chunks(names, func(part []string) error {
		where, args := in("key", part)
		return byText(ctx, q, found, `SELECT key, id FROM records WHERE kind = ? AND deleted_at = 0 AND `+where,
			append([]any{string(kind)}, args...)...)
	})
	if err != nil {
		return nil, err
	}
	others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return found[name] != 0 })
	aliases, err := aliased(ctx, q, kind, others)
	maps.Copy(found, aliases)
	return found, err
}

// aliased finds the live records that have one of the aliases. If several
// records claim one, the oldest gets it.
func aliased(ctx context.Context, q querier, kind catalog.Kind, aliases []string) (map[string]int64, error) {
	found := map[string]int64{}
	err := chunks(aliases, func(part []string) error {
		where, args := in("a.alias", part)
		return byText(ctx, q, found, `SELECT a.alias, MIN(a.record)
FROM record_aliases a JOIN records r ON r.id = a.record
WHERE a.kind = ? AND r.deleted_at = 0 AND `+where+` GROUP BY a.alias`, append([]any{string(kind)}, args...)...)
	})
	return found, err
}

// byText adds the rows of a query, a text and an id each, to found.
func byText(ctx context.Context, q querier, found map[string]int64, query string, args ...any) error {
	_, err := collect(ctx, q, func(rows *sql.Rows) (none struct{}, err error) {
		var text string
		var id int64
		err = rows.Scan(&text, &id)
		found[text] = id
		return none, err
	}, query, args...)
	return err
}

func (t *txn) putAliases(record int64, source string, kind catalog.Kind, aliases []string) error {
	for _, alias := range aliases {
		_, err := t.Exec(`INSERT INTO record_aliases (record, source, kind, alias) VALUES (?, ?, ?, ?)`, record, source,
			string(kind), alias)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *txn) dropAliases(record int64, source string) error {
	_, err := t.Exec(`DELETE FROM record_aliases WHERE record = ? AND source = ?`, record, source)
	return err
}
