package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"almanac/catalog"
)

const selectGenerations = `SELECT id, fingerprint, checkpoint, created_at FROM generations `

// OpenGeneration returns the generation of the fingerprint (analyzer,
// passage rules, embedding model), creating it if it does not exist.
func (s *Store) OpenGeneration(ctx context.Context, fingerprint string) (catalog.Generation, error) {
	fingerprint = catalog.Clean(fingerprint)
	list, err := read(ctx, s, "open generation", scanGeneration, selectGenerations+`WHERE fingerprint = ?`, fingerprint)
	if err != nil {
		return catalog.Generation{}, err
	}
	if len(list) == 0 {
		err = s.update(ctx, "open generation", func(t *txn) error { // of readers too: an empty one harms nobody
			_, err := t.Exec(`INSERT INTO generations (fingerprint, checkpoint, created_at) VALUES (?, 0, ?)
ON CONFLICT (fingerprint) DO NOTHING`,
				fingerprint, micros(catalog.CleanTime(s.Now())))
			if err != nil {
				return err
			}
			list, err = collect(ctx, t.Tx, scanGeneration, selectGenerations+`WHERE fingerprint = ?`, fingerprint)
			return err
		})
		if err != nil {
			return catalog.Generation{}, err
		}
	}
	return list[0], nil
}

// Generations returns all generations, oldest first.
func (s *Store) Generations(ctx context.Context) ([]catalog.Generation, error) {
	return read(ctx, s, "generations", scanGeneration, selectGenerations+`ORDER BY id`)
}

func scanGeneration(rows *sql.Rows) (g catalog.Generation, err error) {
	var at int64
	err = rows.Scan(&g.ID, &g.Fingerprint, &g.Checkpoint, &at)
	g.CreatedAt = fromMicros(at)
	return g, err
}

// retired marks the fingerprint of a retired generation; no other contains it.
const retired = "\nretired "

// RetireGeneration gives a generation's fingerprint away, so that OpenGeneration
// makes another one, while this stays as it is. Retiring twice does nothing.
// ErrNotFound.
func (s *Store) RetireGeneration(ctx context.Context, id int64) error {
	return s.rename(ctx, "retire generation", id, func(fingerprint string) string {
		before, _, _ := strings.Cut(fingerprint, retired)
		return fmt.Sprint(before, retired, id)
	})
}

// RestoreGeneration takes RetireGeneration back. ErrConflict if another generation
// has the fingerprint now.
func (s *Store) RestoreGeneration(ctx context.Context, id int64) error {
	return s.rename(ctx, "restore generation", id, func(fingerprint string) string {
		before, _, _ := strings.Cut(fingerprint, retired)
		return before
	})
}

// rename changes the fingerprint of a generation.
func (s *Store) rename(ctx context.Context, op string, id int64, to func(fingerprint string) string) error {
	return s.write(ctx, op, func(t *txn) error {
		all, err := collect(ctx, t.Tx, scanGeneration, selectGenerations)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(g catalog.Generation) bool { return g.ID == id })
		if at < 0 {
			return notFound(fmt.Sprintf("generation %d", id))
		}
		fingerprint := to(all[at].Fingerprint)
		if slices.ContainsFunc(all, func(g catalog.Generation) bool { return g.ID != id && g.Fingerprint == fingerprint }) {
			return fmt.Errorf("generation %d: another has its fingerprint: %w", id, catalog.ErrConflict)
		}
		_, err = t.Exec(`UPDATE generations SET fingerprint = ? WHERE id = ?`, fingerprint, id)
		return err
	})
}

// DropGeneration removes a generation with all that is stored of it; dropping a missing one
// is not an error.
func (s *Store) DropGeneration(ctx context.Context, id int64) error {
	return s.write(ctx, "drop generation", func(t *txn) error {
		for _, table := range []string{"passages", "documents", "words", "statistics"} {
			if _, err := t.ExecContext(ctx, `DELETE FROM `+table+` WHERE generation = ?`, id); err != nil {
				return err
			}
		}
		_, err := t.Exec(`DELETE FROM generations WHERE id = ?`, id)
		return err
	})
}

func (t *txn) moveCheckpoint(generation, checkpoint int64) error {
	moved, err := t.Exec(`UPDATE generations SET checkpoint = ? WHERE id = ?`, checkpoint, generation)
	if err != nil {
		return err
	}
	return affected(moved, fmt.Sprintf("generation %d", generation))
}
