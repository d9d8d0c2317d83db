package main

import (
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
	s.signal(t, syscall.SIGTERM)
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

// TestDrainEnds: without a second termination it ends when the delay is over; a terminal that is closed sends more than
// one signal.
func TestDrainEnds(t *testing.T) {
	t.Parallel()
	at := newSite(t, 16)
	for signal, cause := range map[syscall.Signal]string{syscall.SIGTERM: "terminated", syscall.SIGHUP: "hangup"} {
		s := at.serve(t, "ALMANAC_SERVER_DRAIN_DELAY=10ms")
		s.ready(t)
		s.signal(t, signal)
		if signal == syscall.SIGHUP {
			_ = s.cmd.Process.Signal(signal) // it may have ended before
		}
		if code := s.ended(t); code != 0 || !strings.Contains(s.log.String(), `"cause":"`+cause+` signal received"`) {
			t.Errorf("%v: exit code %d", signal, code)
		}
	}
}

// TestLinesNameTheirRequest: what is logged for a request has its id.
func TestLinesNameTheirRequest(t *testing.T) {
	var out strings.Builder
	var c config.Config
	c.Log.Level, c.Log.Format = "info", "json"
	log, _ := terminal.Loggers(c, config.Origins{"log.level": config.Default}, "serve", &out)
	log.With("source", "docs").InfoContext(op.WithRequest(t.Context(), "abc"), "done", "took", 1500*time.Millisecond)
	for _, want := range []string{`"request":"abc"`, `"source":"docs"`, `"took_seconds":1.5`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %s", out.String(), want)
		}
	}
}
