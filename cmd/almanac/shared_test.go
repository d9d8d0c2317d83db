package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"almanac/testing/postgrestest"
	"almanac/testing/redistest"
)

// TestServesFromPostgreSQL holds that a server whose catalog is in a database answers as
// one with a file does, and that its data directory can be lost.
func TestServesFromPostgreSQL(t *testing.T) {
	database := "ALMANAC_CATALOG_URL=" + postgrestest.Database(t)
	there, here := newSite(t, 12, database), newSite(t, 12)
	s, file := there.serve(t), here.serve(t)
	got, want := s.state(t, s.ready(t)), file.state(t, file.ready(t))
	if got.String() != want.String() {
		t.Errorf("from the database:\n%s\nfrom the file:\n%s", got, want)
	}
	if code := s.stop(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
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
	if again := s.state(t, s.ready(t)); again.String() != want.String() {
		t.Errorf("without its data directory:\n%s\nbefore:\n%s", again, want)
	}
}

// TestServersCountCallsTogether holds that a client's calls are as many over three
// servers as the limit says.
func TestServersCountCallsTogether(t *testing.T) {
	settings := []string{"ALMANAC_LIMIT_REDIS=" + redistest.Start(t).URL(), "ALMANAC_LIMIT_REST=20"}
	var servers []*server
	for range 3 {
		s := newSite(t, 3, settings...).serve(t)
		s.ready(t)
		servers = append(servers, s)
	}
	statuses := map[int]int{}
	for i := range 30 {
		status, _, _ := servers[i%3].get(t, "/api/v1/sources")
		statuses[status]++
	}
	if statuses[http.StatusOK] != 20 || statuses[http.StatusTooManyRequests] != 10 {
		t.Errorf("answers by status: %v", statuses)
	}
}
