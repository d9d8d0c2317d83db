package postgres

import "testing"

func TestStatementsAreNumbered(t *testing.T) {
	for query, want := range map[string]string{
		`SELECT 1`:                                     `SELECT 1`,
		`INSERT INTO t (a, b) VALUES (?, ?)`:           `INSERT INTO t (a, b) VALUES ($1, $2)`,
		`SELECT ?2, ?1 LIMIT +?`:                       `SELECT $2, $1 LIMIT $3`,
		`SELECT a FROM t WHERE a >= ?1 AND b IN (?,?)`: `SELECT a FROM t WHERE a >= $1 AND b IN ($2,$3)`,
		`a LIKE ? ESCAPE '\' AND b = '?' AND c = ?12`:  `a LIKE $1 ESCAPE '\' AND b = '?' AND c = $12`,
		`SELECT id FROM t LIMIT +? OFFSET ?`:           `SELECT id FROM t LIMIT $1 OFFSET $2`,
	} {
		for range 2 { // the second is remembered
			if got := numbered(query); got != want {
				t.Errorf("%s\n%s, want\n%s", query, got, want)
			}
		}
	}
}
