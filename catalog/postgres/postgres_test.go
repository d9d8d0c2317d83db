package postgres_test

import (
	"os"
	"testing"

	"almanac/catalog/postgres"
	"almanac/testing/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.M{M: m}.Run()) }

// open opens a catalog that the test's end closes.
func open(t testing.TB, address string) *postgres.Store {
	t.Helper()
	s, err := postgres.Leased(t.Context(), postgres.Config{URL: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
