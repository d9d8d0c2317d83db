package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"almanac/testing/race"
	"almanac/testing/soak"
)

// TestKilledAtAnyMomentTheNextStartCompletes kills a first sync and index at
// random moments, some of them several times in a row and now and then by the
// gentle signal, and wants what an undisturbed run has.
func TestKilledAtAnyMomentTheNextStartCompletes(t *testing.T) {
	race.Skip(t)
	moments := soak.Rounds(50)
	t.Parallel()
	at := newSite(t, 80)
	undisturbed := at.serve(t)
	began := time.Now()
	ready := undisturbed.ready(t)
	whole := time.Since(began) + 50*time.Millisecond // the process starts before it listens
	want := undisturbed.state(t, ready)
	if ready.Records != 80 || !strings.Contains(want, "{Type:doc Count:60}") {
		t.Fatalf("the undisturbed run has %s", want)
	}
	undisturbed.stop(t)
	r := rand.New(rand.NewPCG(20, 26))
	home := t.TempDir()
	for moment := 0; moment < moments; {
		victim := site{at.fixture, filepath.Join(home, fmt.Sprint(moment)), at.env}
		command := []string{"serve", "sync", "serve"}[r.IntN(3)]
		var after []time.Duration
		for range min(1+r.IntN(3), moments-moment) {
			after = append(after, time.Duration(r.Int64N(int64(whole))))
			signal := os.Kill
			if r.IntN(8) == 0 {
				signal = syscall.SIGTERM
			}
			victim.end(t, signal, command, after[len(after)-1])
			moment++
		}
		s := victim.serve(t)
		if got := s.state(t, s.ready(t)); got != want {
			t.Errorf("%s killed after %v has\n%s\nundisturbed it is\n%s", command, after, got, want)
		}
		s.stop(t)
	}
}

// end starts a command and ends it by a signal after a while: at whatever moment of its
// work that is.
func (s site) end(t *testing.T, signal os.Signal, command string, after time.Duration, more ...string) {
	t.Helper()
	args := s.args(more...)
	if command == "serve" {
		args = append(args, "--listen", "127.0.0.1:0", "--admin=")
	}
	moment, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	cmd := exec.CommandContext(moment, program(t), append([]string{command}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(signal) }
	cmd.Env = s.env
	_ = cmd.Run() // a sync may be done before
}
