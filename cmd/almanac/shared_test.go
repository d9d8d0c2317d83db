package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"almanac/testing/meilitest"
	"almanac/testing/postgrestest"
	"almanac/testing/qdranttest"
	"almanac/testing/redistest"
	"almanac/testing/soak"
	"almanac/testing/wait"
)

// TestServesFromPostgreSQL holds that a server whose catalog is in a database answers as
// one with a file does, and that its data directory can be lost.
func TestServesFromPostgreSQL(t *testing.T) {
	t.Parallel()
	database := "ALMANAC_CATALOG_URL=" + postgrestest.Database(t)
	there, here := newSite(t, 12, database), newSite(t, 12)
	s, file := there.serve(t), here.serve(t)
	got, want := s.state(t, s.ready(t)), file.state(t, file.ready(t))
	if got != want {
		t.Errorf("from the database:\n%s\nfrom the file:\n%s", got, want)
	}
	s.stop(t)
	if _, err := os.Stat(filepath.Join(there.data, "catalog.db")); err == nil {
		t.Error("a catalog lies in the data directory too")
	}
	said := there.run(t, "doctor")
	if !strings.Contains(said, "undamaged: the PostgreSQL database ") {
		t.Error(said)
	}
	if err := os.RemoveAll(there.data); err != nil {
		t.Fatal(err)
	}
	s = there.serve(t)
	if again := s.state(t, s.ready(t)); again != want {
		t.Errorf("without its data directory:\n%s\nbefore:\n%s", again, want)
	}
}

// TestServersCountCallsTogether holds that a client's calls are as many over three
// servers as the limit says, and that each server counts for itself while Redis is stopped:
// it is ready, and it and doctor say so.
func TestServersCountCallsTogether(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	at := newSite(t, 3, "ALMANAC_LIMIT_REDIS="+redis.URL(), "ALMANAC_LIMIT_REST=20")
	servers := at.servers(t, 3)
	statuses := map[int]int{}
	for i := range 30 {
		status, _, _ := servers[i%3].get(t, "/api/v1/sources")
		statuses[status]++
	}
	if statuses[http.StatusOK] != 20 || statuses[http.StatusTooManyRequests] != 10 {
		t.Errorf("answers by status: %v", statuses)
	}
	notes := func() []string {
		t.Helper()
		servers[0].get(t, "/api/v1/sources") // a call that is counted
		return getJSON[struct{ Notes []string }](t, servers[0], "/ready").Notes
	}
	if said := notes(); len(said) > 0 {
		t.Errorf("with Redis it says %q", said)
	}
	redis.Stop()
	if said := notes(); len(said) != 1 || said[0] != "Redis is away: each server counts calls for itself" {
		t.Errorf("without Redis it says %q", said)
	}
	at.refuses(t, "each server counts for itself: Redis is away", "doctor")
	redis.Again(t)
	wait.Until(t, "it counts in Redis again", func() bool { return len(notes()) == 0 })
}

// TestAStoppedWriterIsOvertaken stops the one of three servers on one catalog that
// syncs, as a machine that is frozen does: another syncs in its place, and when it goes on
// it has lost nothing and writes nothing.
func TestAStoppedWriterIsOvertaken(t *testing.T) {
	t.Parallel()
	first := newSite(t, 6, "ALMANAC_CATALOG_URL="+postgrestest.Database(t))
	servers := first.servers(t, 3)
	writer, others := servers[0], servers[1:]
	first.write(t, 9) // read by whoever takes over: nobody looks before
	writer.signal(t, syscall.SIGSTOP)
	wait.Until(t, "another writes", func() bool { return others[0].finds(t, 7) && others[1].finds(t, 7) })
	writer.signal(t, syscall.SIGCONT)
	writer.await(t, "the lock of the writer ran out: this process was stopped, or the catalog did not answer for too long")
	wait.Until(t, "it reads what the other wrote", func() bool { return writer.finds(t, 7) })
	want := others[0].search(t, "beacon harbour")
	for _, s := range []*server{writer, others[1]} {
		if got := s.search(t, "beacon harbour"); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestServersLeaveDocumentsInTheCatalog has words and vectors on servers, and beside a
// server with the documents in its memory a reader and a second server without: they answer
// as it does, follow it, and the second takes over from it and is followed too. The reader never writes.
func TestServersLeaveDocumentsInTheCatalog(t *testing.T) {
	t.Parallel()
	at := newSite(t, 12, "ALMANAC_CATALOG_URL="+postgrestest.Database(t), "ALMANAC_EMBED_MODEL=table",
		"ALMANAC_KEYWORD_URL="+meilitest.Start(t).URL, "ALMANAC_VECTOR_URL=http://"+qdranttest.Start(t).Addr)
	enter := func(settings ...string) (*server, logLine) {
		s := at.elsewhere(t).serve(t, settings...)
		return s, s.ready(t)
	}
	const stored = "ALMANAC_SEARCH_PASSAGES=catalog"
	writer, ready := enter()
	// Words are found before the last vectors are there.
	whole := func(s *server, page int) func() bool {
		return func() bool { return s.finds(t, page) && len(s.degraded(t)) == 0 }
	}
	wait.Until(t, "words and vectors are on the servers", whole(writer, 11))
	want := writer.state(t, ready)
	reader, ready := enter(stored, "ALMANAC_SERVER_ROLE=reader")
	wait.Until(t, "the reader has both", whole(reader, 11))
	if got := reader.state(t, ready); got != want {
		t.Errorf("a reader:\n%s\nthe writer:\n%s", got, want)
	}
	second, _ := enter(stored)
	at.write(t, 15)
	at.run(t, "sync")
	for _, s := range []*server{writer, reader, second} {
		wait.Until(t, "what the first wrote is found", func() bool { return s.finds(t, 14) })
	}
	writer.kill()
	at.write(t, 18) // read by whoever takes over
	for _, s := range []*server{second, reader} {
		wait.Until(t, "what the second wrote is found", func() bool { return s.finds(t, 17) })
	}
	if strings.Contains(reader.log.String(), `"synced"`) {
		t.Error("the reader synced")
	}
	for _, q := range queries {
		wait.Until(t, q+" has one answer", func() bool {
			return fmt.Sprintf("%+v", reader.search(t, q)) == fmt.Sprintf("%+v", second.search(t, q))
		})
	}
}

// TestSyncAsksTheServerThatWrites syncs from the command line beside two servers on one
// catalog: the one that writes does it, and both show the job.
func TestSyncAsksTheServerThatWrites(t *testing.T) {
	t.Parallel()
	at := newSite(t, 6, "ALMANAC_CATALOG_URL="+postgrestest.Database(t))
	servers := at.servers(t, 2)
	at = at.elsewhere(t)
	at.write(t, 9)
	out, said, code := almanac(t, at.env, append([]string{"sync"}, at.args("manual", "notes")...)...)
	if code != 0 || out != "" || !strings.Contains(said, "job 1 asks it to sync manual") ||
		!strings.Contains(said, "job 2 asks it to sync notes") {
		t.Fatalf("%d %s%s", code, out, said)
	}
	for _, s := range servers {
		wait.Until(t, "the page is found", func() bool { return s.finds(t, 7) })
		_, _, page := do(t, http.MethodGet, s.admin+"/operations?live=1")
		for _, job := range []string{">sync manual<", ">sync notes<"} {
			if !strings.Contains(page, job) {
				t.Errorf("the dashboard does not say %s: %s", job, page)
			}
		}
	}
	at.refuses(t, "stop all its servers, then run this again", "sync", "--accept-shrink")
	for _, s := range servers {
		s.stop(t)
	}
	if table := at.run(t, "sync", "--accept-shrink"); !strings.Contains(table, "manual") {
		t.Errorf("alone it says %s", table)
	}
}

// TestKilledWritersAreReplaced kills the one of three servers that syncs, over and over,
// while documents come: another takes over each time, no change is lost, and all answer
// alike.
func TestKilledWritersAreReplaced(t *testing.T) {
	t.Parallel()
	at := newSite(t, 6, "ALMANAC_CATALOG_URL="+postgrestest.Database(t))
	enter := func() *server {
		s := at.elsewhere(t).serve(t)
		s.ready(t)
		return s
	}
	writer, others := enter(), []*server{enter(), enter()}
	rounds := soak.Rounds(200)
	if rounds < 200 {
		rounds = 3
	}
	for round := range rounds {
		page := 9 + 4*round
		at.write(t, page+1) // read by whoever takes over: nobody looks before
		writer.kill()
		wait.Until(t, "another writes", func() bool {
			return !slices.ContainsFunc(others, func(s *server) bool { return !s.finds(t, page) })
		})
		i := slices.IndexFunc(others, func(s *server) bool { return strings.Contains(s.log.String(), "from here on") })
		if i < 0 {
			t.Fatal("nobody says that he writes")
		}
		writer, others[i] = others[i], enter()
		want := writer.search(t, "beacon harbour")
		for _, s := range others {
			if got := s.search(t, "beacon harbour"); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("round %d: %+v, want %+v", round, got, want)
			}
		}
	}
}

// TestADatabaseThatGoesAndComesBack cuts two servers off from their catalog: they stay,
// say at once that it is away, blame nothing else, and one writes again afterwards.
func TestADatabaseThatGoesAndComesBack(t *testing.T) {
	t.Parallel()
	link := postgrestest.Through(t, postgrestest.Database(t))
	at := newSite(t, 6, "ALMANAC_CATALOG_URL="+link.Address, "ALMANAC_EMBED_MODEL=table",
		"ALMANAC_KEYWORD_URL="+meilitest.Start(t).URL, "ALMANAC_VECTOR_URL=http://"+qdranttest.Start(t).Addr)
	servers := at.servers(t, 2)
	wait.Until(t, "words and vectors are on the servers", func() bool { return len(servers[0].degraded(t)) == 0 })
	unready := func(s *server) {
		t.Helper()
		if status, _, text := s.get(t, "/ready"); status != http.StatusServiceUnavailable ||
			text != `{"error":"catalog does not answer"}` {
			t.Errorf("/ready is %d %s", status, text)
		}
		if status, _, text := s.get(t, "/health"); status != http.StatusOK ||
			!strings.Contains(text, `"down":["catalog does not answer"]`) {
			t.Errorf("/health is %d %s", status, text)
		}
	}
	link.Cut()
	for _, s := range servers {
		wait.Until(t, "it is not ready", func() bool {
			status, _, _ := s.get(t, "/ready")
			return status != http.StatusOK
		})
		unready(s)
		if why := s.reason(t, "catalog"); !strings.Contains(why, "PostgreSQL database") {
			t.Errorf("the operator is told %q", why)
		}
	}
	for _, s := range servers {
		s.await(t, "the catalog cannot be reached and is tried again")
		unready(s)
		status, headers, text := s.get(t, "/api/v1/search?q=beacon")
		if status != http.StatusServiceUnavailable || headers.Get("Retry-After") == "" ||
			!strings.Contains(text, "the catalog does not answer") {
			t.Errorf("a search: %d %s", status, text)
		}
	}
	if log := servers[0].log.String(); strings.Contains(log, "another process writes the index") {
		t.Errorf("nobody can have taken over:\n%s", log)
	}
	at.write(t, 9)
	link.Heal()
	wait.Until(t, "both are ready", func() bool {
		for _, s := range servers {
			if status, _, _ := s.get(t, "/ready"); status != http.StatusOK {
				return false
			}
		}
		return true
	})
	wait.Until(t, "the documents of meanwhile are found", func() bool {
		return servers[0].finds(t, 7) && servers[1].finds(t, 7)
	})
}
