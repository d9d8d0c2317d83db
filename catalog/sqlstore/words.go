package sqlstore

import (
	"context"
	"database/sql"

	"almanac/catalog"
)

// AddWords adds to a generation's vocabulary. It may run ahead of the
// passages: an unused word does no harm.
func (s *Store) AddWords(ctx context.Context, generation int64, words []string) error {
	return s.write(ctx, "add words", func(t *txn) error {
		for _, w := range words {
			if _, err := t.Exec(`INSERT INTO words (generation, word) VALUES (?, ?) ON CONFLICT DO NOTHING`, generation,
				catalog.Clean(w)); err != nil {
				return err
			}
		}
		return nil
	})
}

// DropWords removes words from a generation's vocabulary.
func (s *Store) DropWords(ctx context.Context, generation int64, words []string) error {
	return s.write(ctx, "drop words", func(t *txn) error {
		for _, w := range words {
			if _, err := t.Exec(`DELETE FROM words WHERE generation = ? AND word = ?`, generation,
				catalog.Clean(w)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Words returns a generation's vocabulary, in no particular order.
func (s *Store) Words(ctx context.Context, generation int64) ([]string, error) {
	return read(ctx, s, "words", func(rows *sql.Rows) (w string, err error) { return w, rows.Scan(&w) },
		`SELECT word FROM words WHERE generation = ?`, generation)
}
