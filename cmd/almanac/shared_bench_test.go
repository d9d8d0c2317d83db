package main

import (
	"net/url"
	"path/filepath"
	"testing"

	"almanac/testing/postgrestest"
)

// BenchmarkCatalogs compares a catalog in a file with one in PostgreSQL on the same machine:
// the first sync of the corpus, and a page of ten results of a server.
func BenchmarkCatalogs(b *testing.B) {
	corpus := sharedCorpus(b)
	for name, database := range map[string]func(testing.TB) string{
		"file":       func(testing.TB) string { return "" },
		"PostgreSQL": postgrestest.Database,
	} {
		env := func(b *testing.B) []string {
			return environ(b.TempDir(), "ALMANAC_CORPUS="+corpus, "ALMANAC_LIMIT_REST=0", "ALMANAC_NETWORK_NAME=corpus",
				"ALMANAC_DATA_DIR="+filepath.Join(b.TempDir(), "data"), "ALMANAC_CATALOG_URL="+database(b))
		}
		b.Run(name+"/sync", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				env := env(b)
				b.StartTimer()
				must(b, env, "sync")
			}
		})
		b.Run(name+"/page", func(b *testing.B) {
			s := start(b, env(b))
			s.ready(b)
			for n := 0; b.Loop(); n++ {
				query := queriesOfACorpus[n%len(queriesOfACorpus)]
				if status, _, text := s.get(b, "/api/v1/search?limit=10&q="+url.QueryEscape(query)); status != 200 {
					b.Fatal(status, text)
				}
			}
		})
	}
}

// queriesOfACorpus find ten results and more.
var queriesOfACorpus = []string{"traffic balance", "how to run a validator", "party migration", "scan api",
	"governance vote", "token standard", "wallet", "synchronizer fees"}
