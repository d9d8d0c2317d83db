package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"almanac/api/op"
	"almanac/cmd/config"
	"almanac/cmd/terminal"
	"almanac/testing/wait"
)

// TestDrain sends the signal of an orchestrator: /ready says so at once, and requests
// are answered until the delay is over. A second signal does not wait for that.
func TestDrain(t *testing.T) {
	t.Parallel()
	s := newSite(t, 16).serve(t, "ALMANAC_SERVER_DRAIN_DELAY=1h")
	s.ready(t)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.await(t, "draining")
	for range 3 {
		if status, header, body := s.get(t, "/ready"); status != http.StatusServiceUnavailable ||
			header.Get("Retry-After") == "" || !strings.Contains(body, "stopping") {
			t.Errorf("/ready: %d %s", status, body)
		}
		if status, _, body := s.get(t, "/api/v1/search?q=mooring"); status != http.StatusOK {
			t.Errorf("a search: %d %s", status, body)
		}
	}
	wait.Until(t, "a second signal ends it", func() bool {
		_ = s.cmd.Process.Signal(syscall.SIGTERM) // the last one may have come before it was listened for
		select {
		case <-s.exited:
			return true
		default:
			return false
		}
	})
	if how := s.cmd.ProcessState.Sys().(syscall.WaitStatus); how.Signal() != syscall.SIGTERM {
		t.Errorf("ended with %v", s.cmd.ProcessState)
	}
}

// TestDrainEnds: without a second signal it ends when the delay is over.
func TestDrainEnds(t *testing.T) {
	t.Parallel()
	s := newSite(t, 16).serve(t, "ALMANAC_SERVER_DRAIN_DELAY=10ms")
	s.ready(t)
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	checkLog(t, s.log.String())
}

// TestAHangupDrains: the terminal of a server is closed, which sends more than one signal.
func TestAHangupDrains(t *testing.T) {
	t.Parallel()
	s := newSite(t, 16).serve(t, "ALMANAC_SERVER_DRAIN_DELAY=10ms")
	s.ready(t)
	for range 2 {
		_ = s.cmd.Process.Signal(syscall.SIGHUP) // it may have ended before the second
	}
	<-s.exited
	line := `"msg":"draining","cause":"hangup signal received"`
	if s.exitCode != 0 || !strings.Contains(s.log.String(), line) {
		t.Errorf("exit code %d", s.exitCode)
	}
}

// TestLinesNameTheirRequest: what is logged for a request has its id.
func TestLinesNameTheirRequest(t *testing.T) {
	var out strings.Builder
	log, _ := terminal.Loggers(logging("info"), config.Origins{"log.level": config.Default}, "serve", &out)
	log.With("source", "docs").InfoContext(op.WithRequest(t.Context(), "abc"), "done", "took", 1500*time.Millisecond)
	for _, want := range []string{`"request":"abc"`, `"source":"docs"`, `"took_seconds":1.5`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %s", out.String(), want)
		}
	}
}

func logging(level string) (c config.Config) {
	c.Log.Level, c.Log.Format = level, "json"
	return c
}

// checkLog holds the form of a server's log: one line of JSON an event, with
// level and message, and durations in seconds.
func checkLog(t *testing.T, log string) {
	t.Helper()
	took := false
	for line := range strings.Lines(log) {
		var l map[string]any
		if err := json.Unmarshal([]byte(line), &l); err != nil || l["level"] == nil || l["msg"] == nil ||
			l["event"] != nil {
			t.Errorf("not an event: %v %s", err, line)
		}
		for _, bad := range []string{"err", "took", "wait", "every", "took_ms"} {
			if l[bad] != nil {
				t.Errorf("%s: %s", bad, line)
			}
		}
		if s, ok := l["took_seconds"].(float64); ok {
			took = true
			if s < 0 || s > 1000 {
				t.Errorf("took %v s: %s", s, line)
			}
		}
	}
	if !took {
		t.Error("no event says how long it took")
	}
}
