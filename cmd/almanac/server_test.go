package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"almanac/testing/wait"
)

// server is a running `almanac serve`.
type server struct {
	cmd      *exec.Cmd
	log      *logReader
	base     string // http://127.0.0.1:port
	admin    string
	exited   chan struct{}
	exitCode int // when exited
}

// start runs serve on free ports and returns when it listens.
func start(tb testing.TB, env []string, args ...string) *server {
	tb.Helper()
	return startProgram(tb, env, program(tb), args...)
}

// startProgram is start of another build.
func startProgram(tb testing.TB, env []string, program string, args ...string) *server {
	tb.Helper()
	s := &server{log: newLogReader(), exited: make(chan struct{})}
	s.cmd = exec.Command(program,
		append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...)
	s.cmd.Env, s.cmd.Stderr = env, s.log
	if err := s.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait() // the exit code says how it ended
		s.exitCode = s.cmd.ProcessState.ExitCode()
		close(s.exited)
	}()
	tb.Cleanup(func() {
		s.kill()
		if tb.Failed() {
			tb.Logf("log of the server:\n%s", s.log)
		}
	})
	s.base = "http://" + s.await(tb, "listening").Address
	s.admin = "http://" + s.await(tb, "admin listener ready").Address
	return s
}

// await returns the next log line with a message.
func (s *server) await(tb testing.TB, msg string) logLine {
	tb.Helper()
	late := time.After(wait.Bound)
	for {
		select {
		case line := <-s.log.lines:
			if line.Msg == msg {
				return line
			}
		case <-s.exited:
			// What it said last may still be in the channel.
			select {
			case line := <-s.log.lines:
				if line.Msg == msg {
					return line
				}
			default:
				tb.Fatalf("the server ended with %d before it said %q:\n%s", s.exitCode, msg, s.log)
			}
		case <-late:
			tb.Fatalf("the server did not say %q:\n%s", msg, s.log)
		}
	}
}

// ready waits for the first index and returns its size.
func (s *server) ready(tb testing.TB) logLine {
	tb.Helper()
	line := s.await(tb, "ready")
	if status, _, body := s.get(tb, "/ready"); status != http.StatusOK {
		tb.Fatalf("/ready answers %d %s after it was logged", status, body)
	}
	return line
}

// stop sends the termination signal and returns the exit code.
func (s *server) stop(tb testing.TB) int {
	tb.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		tb.Fatal(err)
	}
	return s.ended(tb)
}

func (s *server) ended(tb testing.TB) int {
	tb.Helper()
	select {
	case <-s.exited:
		return s.exitCode
	case <-time.After(wait.Bound):
		tb.Fatalf("the server does not stop:\n%s", s.log)
		return 0
	}
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.exited
}

// client opens a connection for each request, so that none outlives its test.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	Timeout: wait.Bound}

// do sends a request; headers are name, value, …; Host is one of them.
func do(tb testing.TB, method, address string, headers ...string) (int, http.Header, string) {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), method, address, http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	res, err := client.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return res.StatusCode, res.Header, string(body)
}

func (s *server) get(tb testing.TB, path string, headers ...string) (int, http.Header, string) {
	tb.Helper()
	return do(tb, http.MethodGet, s.base+path, headers...)
}

// getJSON decodes an answer that must be 200.
func getJSON[T any](tb testing.TB, s *server, path string) (v T) {
	tb.Helper()
	status, _, body := s.get(tb, path)
	if status != http.StatusOK {
		tb.Fatalf("%s: %d %s", path, status, body)
	}
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		tb.Fatal(err)
	}
	return v
}

// found is a search's answer without what differs from run to run.
type found struct {
	Total int
	Items []struct {
		Key, Title, Snippet string
		Score               float64
	}
}

func (s *server) search(tb testing.TB, query string) found {
	tb.Helper()
	return getJSON[found](tb, s, "/api/v1/search?limit=5&q="+url.QueryEscape(query))
}

// finds reports whether a page is found by its own word.
func (s *server) finds(tb testing.TB, page int) bool {
	tb.Helper()
	f := s.search(tb, only(page))
	return len(f.Items) > 0 && f.Items[0].Key == fmt.Sprintf("manual/page-%03d.md", page)
}

// state is everything of an index that must survive what happens to it.
type state struct {
	Kinds    map[string]int
	Passages int
	Answers  map[string]found
}

// queries are of every class; the words are those of the fixture.
var queries = []string{"LIP-3", "beacon harbour", "tide", "how does a tug tow a barge through the canal",
	"settelment ledgr", only(29), "1.2.0"}

// state returns the index of a server that just said it was ready.
func (s *server) state(tb testing.TB, ready logLine) state {
	tb.Helper()
	st := state{Kinds: map[string]int{}, Passages: ready.Passages, Answers: map[string]found{}}
	sources := getJSON[struct {
		Sources []struct {
			Type  string
			Count int
		}
	}](tb, s, "/api/v1/sources")
	for _, row := range sources.Sources {
		st.Kinds[row.Type] = row.Count
	}
	for _, q := range queries {
		st.Answers[q] = s.search(tb, q)
	}
	return st
}

func (st state) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %d passages\n", st.Kinds, st.Passages)
	for _, q := range slices.Sorted(maps.Keys(st.Answers)) {
		fmt.Fprintf(&b, "%s: %+v\n", q, st.Answers[q])
	}
	return b.String()
}

// site is a fixture with a data directory and what runs programs on them.
type site struct {
	fixture
	data string
	env  []string
}

func newSite(tb testing.TB, documents int, settings ...string) site {
	tb.Helper()
	f := writeFixture(tb, tb.TempDir(), documents)
	return site{f, filepath.Join(tb.TempDir(), "data"),
		environ(tb.TempDir(), append([]string{"ALMANAC_CORPUS=" + f.corpus, "ALMANAC_LIMIT_REST=0",
			"ALMANAC_LIMIT_MCP=0"}, settings...)...)}
}

func (s site) args(more ...string) []string {
	return append([]string{"--network", s.network, "--data", s.data}, more...)
}

func (s site) serve(tb testing.TB, settings ...string) *server {
	tb.Helper()
	return start(tb, append(slices.Clone(s.env), settings...), s.args()...)
}

func (s site) run(tb testing.TB, command string, args ...string) string {
	tb.Helper()
	return must(tb, s.env, append(append([]string{command}, s.args()...), args...)...)
}
