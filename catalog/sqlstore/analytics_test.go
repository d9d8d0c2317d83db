package sqlstore_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
)

// TestPublicQueriesAreLookedUp holds that a public list reads the first of each day
// by an index, however many rows the table has, and that counts of named queries are
// found by their key.
func TestPublicQueriesAreLookedUp(t *testing.T) {
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	plan := func(query string, args ...any) string {
		t.Helper()
		rows, err := s.Reader.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+query, args...)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var steps []string
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			steps = append(steps, step)
		}
		return strings.Join(steps, "\n")
	}
	for order, index := range map[catalog.SearchOrder]string{
		catalog.MostSearched: "searches_public (day=?", catalog.MostZero: "searches_public_zero (day=?",
	} {
		got := plan(sqlstore.SelectSearches(order, true), 0, 10)
		if strings.Contains(got, "SCAN searches") || !strings.Contains(got, index) ||
			!strings.Contains(got, "SEARCH s USING PRIMARY KEY (day=? AND query=?)") {
			t.Errorf("%q:\n%s", order, got)
		}
	}
	got := plan(sqlstore.SelectClicks(2), 0, "a", "b")
	if strings.Contains(got, "SCAN clicks") || !strings.Contains(got, "SEARCH clicks USING PRIMARY KEY (day=? AND query=?)") {
		t.Errorf("clicks:\n%s", got)
	}
}

// TestPublicQueriesOfAFullDay holds that of a day with more public queries than
// are listed the first in the order are.
func TestPublicQueriesOfAFullDay(t *testing.T) {
	s, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var counts []catalog.SearchCount
	for i := range 2 * catalog.PublicQueries {
		counts = append(counts, catalog.SearchCount{Query: strings.Repeat("tide ", i+1), N: i + 1, Zero: 200 - i,
			Clients: catalog.PublicClients, LastAt: time.Now()})
	}
	if err := s.CountSearches(context.Background(), counts); err != nil {
		t.Fatal(err)
	}
	for order, most := range map[catalog.SearchOrder]int{
		catalog.MostSearched: 2 * catalog.PublicQueries, catalog.MostZero: 1,
	} {
		list, total, err := s.Searches(t.Context(), catalog.SearchQuery{Order: order, Public: true, Limit: 1})
		if err != nil || total != catalog.PublicQueries || len(list) != 1 || list[0].N != most {
			t.Errorf("%q: %d queries, %+v, %v", order, total, list, err)
		}
	}
}
