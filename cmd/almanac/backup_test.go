package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"almanac/testing/race"
	"almanac/testing/soak"
)

// TestABackupBesideAServerAnswersAsItDid saves what a server answers from, lets the server
// read on, and puts the backup back: not beside the server, and whole although the command
// is killed at random moments.
func TestABackupBesideAServerAnswersAsItDid(t *testing.T) {
	race.Skip(t)
	t.Parallel()
	at := newSite(t, 80)
	file := filepath.Join(t.TempDir(), "buoys.tar.gz")
	s := at.serve(t)
	want := s.state(t, s.ready(t))
	at.run(t, "backup", file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	at.write(t, 120)
	at.run(t, "sync")
	at.refuses(t, "stop it", "restore", file)
	s.stop(t)
	if out := at.run(t, "search", "--files", only(101)); !strings.Contains(out, "page-101") {
		t.Fatalf("the server read nothing more: %s", out)
	}
	r := rand.New(rand.NewPCG(20, 26))
	for range soak.Rounds(30) {
		at.end(t, os.Kill, "restore", time.Duration(r.Int64N(int64(400*time.Millisecond))), file)
		if out := at.run(t, "doctor", "--catalog"); !strings.Contains(out, "holds 80 records") &&
			!strings.Contains(out, "holds 120 records") {
			t.Fatalf("neither the one nor the other: %s", out)
		}
	}
	at.run(t, "restore", file)
	if left, err := filepath.Glob(filepath.Join(at.data, ".re*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
	s = at.serve(t, "ALMANAC_SYNC=off")
	if got := s.state(t, s.ready(t)); got != want {
		t.Errorf("answers\n%s\nbefore\n%s", got, want)
	}
	s.stop(t)
}
