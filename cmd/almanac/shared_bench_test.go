package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

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

// BenchmarkReaders compares what two readers of one catalog serve with what one serves, each
// on a core of its own. The client and the database take of these cores too where there
// are only two, so what counts is the processor time that a reader needs for a search while
// all are busy: on cores that nothing else uses it serves as many a second as that time
// fits into one.
func BenchmarkReaders(b *testing.B) {
	database := postgrestest.Database(b)
	corpus := sharedCorpus(b)
	env := func(more ...string) []string {
		return environ(b.TempDir(), append([]string{"ALMANAC_CORPUS=" + corpus, "ALMANAC_LIMIT_REST=0",
			"ALMANAC_NETWORK_NAME=corpus", "ALMANAC_CATALOG_URL=" + database,
			"ALMANAC_DATA_DIR=" + filepath.Join(b.TempDir(), "data")}, more...)...)
	}
	must(b, env(), "sync")
	must(b, env(), "reindex")
	var readers []*server
	for core := range 2 {
		script := filepath.Join(b.TempDir(), "pinned")
		text := fmt.Sprintf("#!/bin/sh\nexec taskset -c %d %s \"$@\"\n", core, program(b))
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			b.Fatal(err)
		}
		s := startProgram(b, env("ALMANAC_SERVER_ROLE=reader", "GOMAXPROCS=1"), script)
		s.ready(b)
		readers = append(readers, s)
	}
	const searches = 1000 // of each reader
	// rate is how many searches a second the readers serve on cores of their own.
	rate := func(readers ...*server) (sum float64) {
		times := make([]time.Duration, len(readers))
		var wg sync.WaitGroup
		for i, s := range readers {
			wg.Go(func() {
				before := processorTime(b, s)
				for n := range searches {
					query := url.QueryEscape(queriesOfACorpus[n%len(queriesOfACorpus)])
					if status, _, text := s.get(b, "/api/v1/search?limit=10&q="+query); status != http.StatusOK {
						b.Error(status, text)
						return
					}
				}
				times[i] = processorTime(b, s) - before
			})
		}
		wg.Wait()
		for _, took := range times {
			sum += searches / took.Seconds()
		}
		return sum
	}
	rate(readers...) // what is read first stays in memory
	var one, two float64
	for b.Loop() {
		one += (rate(readers[0]) + rate(readers[1])) / 2 // cores differ by their neighbours
		two += rate(readers...)
	}
	b.ReportMetric(one/float64(b.N), "one/s")
	b.ReportMetric(two/float64(b.N), "two/s")
	b.ReportMetric(two/one, "times")
}

// processorTime is what a server has used so far, in hundredths of a second.
func processorTime(b *testing.B, s *server) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		b.Skip("only Linux says how long a process has run: ", err)
	}
	_, numbers, _ := strings.Cut(string(text), ") ") // from the state on, the third
	fields := strings.Fields(numbers)
	user, err := strconv.Atoi(fields[14-3])
	if err != nil {
		b.Fatal(err)
	}
	system, err := strconv.Atoi(fields[15-3])
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// queriesOfACorpus find ten results and more.
var queriesOfACorpus = []string{"traffic balance", "how to run a validator", "party migration", "scan api",
	"governance vote", "token standard", "wallet", "synchronizer fees"}
