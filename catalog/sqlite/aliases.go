package sqlite

import (
	"context"
	"database/sql"

	"almanac/catalog"
)

// Aliases returns the other names of a live record, from all sources.
func (s *Store) Aliases(ctx context.Context, record int64) ([]string, error) {
	list, err := collect(ctx, s.reader, scanText, `SELECT DISTINCT a.alias
FROM record_aliases a JOIN records r ON r.id = a.record
WHERE a.record = ? AND r.deleted_at = 0 ORDER BY a.alias`, record)
	return list, s.failure(ctx, "aliases", err)
}

func scanText(rows *sql.Rows) (text string, err error) { return text, rows.Scan(&text) }

// names finds the live record that has the reference as its key or alias, 0 if
// there is none, and all its keys.
func names(ctx context.Context, q querier, ref catalog.Ref) (id int64, keys []string, err error) {
	found, err := collect(ctx, q, scanID, `SELECT id FROM records WHERE kind = ? AND key = ? AND deleted_at = 0`,
		string(ref.Kind), ref.Key)
	if err != nil {
		return 0, nil, err
	}
	if len(found) > 0 {
		id = found[0]
	} else {
		others, err := aliased(ctx, q, ref.Kind, []string{ref.Key})
		if err != nil {
			return 0, nil, err
		}
		id = others[ref.Key]
	}
	keys, err = collect(ctx, q, scanText, `SELECT key FROM records WHERE id = ?
UNION SELECT alias FROM record_aliases WHERE record = ?`, id, id)
	return id, append(keys, ref.Key), err
}

// aliased finds the live records that have one of the aliases. If several
// records claim one, the oldest gets it.
func aliased(ctx context.Context, q querier, kind catalog.Kind, aliases []string) (map[string]int64, error) {
	found := map[string]int64{}
	err := chunks(aliases, func(part []string) error {
		where, args := in("a.alias", part)
		rows, err := q.QueryContext(ctx, `SELECT a.alias, MIN(a.record)
FROM record_aliases a JOIN records r ON r.id = a.record
WHERE a.kind = ? AND r.deleted_at = 0 AND `+where+` GROUP BY a.alias`, append([]any{string(kind)}, args...)...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var alias string
			var id int64
			if err := rows.Scan(&alias, &id); err != nil {
				return err
			}
			found[alias] = id
		}
		return rows.Err()
	})
	return found, err
}

func (t *txn) putAliases(record int64, source string, kind catalog.Kind, aliases []string) error {
	for _, alias := range aliases {
		_, err := t.exec(`INSERT INTO record_aliases (record, source, kind, alias) VALUES (?, ?, ?, ?)`, record, source,
			string(kind), alias)
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *txn) dropAliases(record int64, source string) error {
	_, err := t.exec(`DELETE FROM record_aliases WHERE record = ? AND source = ?`, record, source)
	return err
}
