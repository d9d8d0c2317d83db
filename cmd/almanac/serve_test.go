package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"almanac/cmd/terminal"
	"almanac/retrieval/stack"
	"almanac/testing/wait"
)

// TestAServerIsHealthyBeforeItIsReady holds the index lock, so that the server
// has to wait for a first sync that does not happen; then it releases the lock.
func TestAServerIsHealthyBeforeItIsReady(t *testing.T) {
	t.Parallel()
	at := newSite(t, 40)
	if err := os.MkdirAll(at.data, 0o755); err != nil {
		t.Fatal(err)
	}
	lock, err := stack.TryLock(t.Context(), at.data, nil)
	if err != nil || lock == nil {
		t.Fatal(lock, err)
	}
	s := at.serve(t)
	s.await(t, "another process writes the index: this one reads it and does not sync")
	if status, _, body := s.get(t, "/health"); status != http.StatusOK {
		t.Errorf("/health: %d %s", status, body)
	}
	for _, path := range []string{"/ready", "/api/v1/search?q=tide"} {
		status, header, body := s.get(t, path)
		if status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" ||
			!strings.Contains(body, `{"error":`) {
			t.Errorf("%s: %d %v %s", path, status, header, body)
		}
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	s.await(t, "the other process is gone: this one writes the index from here on")
	if line := s.ready(t); line.Records != 40 {
		t.Errorf("%d records are indexed", line.Records)
	}
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	at := newSite(t, 80)
	s := at.serve(t)
	s.ready(t)
	t.Run("search finds", func(t *testing.T) {
		if got := s.search(t, "LIP-3"); len(got.Items) == 0 || got.Items[0].Key != "LIP-0003" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("the address of port 0 is the one in links", func(t *testing.T) {
		_, _, body := s.get(t, "/api/v1/openapi.json")
		if !strings.Contains(body, `"url":"`+s.base) {
			t.Errorf("the description names another server than %s: %.300s", s.base, body)
		}
	})
	t.Run("HEAD answers like GET without a body", func(t *testing.T) {
		for _, path := range []string{"/health", "/ready", "/api/v1/sources", "/api/v1/search?q=tide"} {
			status, header, body := do(t, http.MethodHead, s.base+path)
			if status != http.StatusOK || body != "" || header.Get("Content-Type") == "" {
				t.Errorf("%s: %d %v %q", path, status, header, body)
			}
		}
	})
	t.Run("an unchanged answer is 304", func(t *testing.T) {
		_, header, _ := s.get(t, "/api/v1/cips")
		status, _, body := s.get(t, "/api/v1/cips", "If-None-Match", header.Get("ETag"))
		if header.Get("ETag") == "" || status != http.StatusNotModified || body != "" {
			t.Errorf("ETag %q: %d %q", header.Get("ETag"), status, body)
		}
	})
	t.Run("answers are compressed for those who ask", func(t *testing.T) {
		_, _, plain := s.get(t, "/api/v1/openapi.json")
		_, header, body := s.get(t, "/api/v1/openapi.json", "Accept-Encoding", "gzip")
		z, err := gzip.NewReader(strings.NewReader(body))
		if err != nil || header.Get("Content-Encoding") != "gzip" {
			t.Fatal(header, err)
		}
		if unpacked, err := io.ReadAll(z); err != nil || string(unpacked) != plain {
			t.Errorf("unpacks to %d bytes, not %d: %v", len(unpacked), len(plain), err)
		}
	})
	t.Run("pages of other origins may not read", func(t *testing.T) {
		for _, path := range []string{"/api/v1/sources", "/status", "/nowhere", "/suggest?q=tide"} {
			_, header, _ := s.get(t, path, "Origin", "https://elsewhere.example")
			if header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s: %v", path, header)
			}
		}
	})
	t.Run("searches are listed from the first on until one comes through a proxy", func(t *testing.T) {
		s.search(t, "LIP-4")
		listed := func() bool {
			_, _, body := s.get(t, "/api/v1/searches/popular")
			return strings.Contains(body, "lip-4")
		}
		if out := at.run(t, "doctor"); !listed() || !strings.Contains(out, "only this machine reaches the service") {
			t.Errorf("listed: %v, %s", listed(), out)
		}
		s.get(t, "/health", "X-Forwarded-For", "192.0.2.7")
		if out := at.run(t, "doctor"); listed() || !strings.Contains(out, "since a request came through a proxy") {
			t.Errorf("after a request through a proxy: listed: %v, %s", listed(), out)
		}
	})
	t.Run("errors are JSON", func(t *testing.T) {
		for path, want := range map[string]int{"/nowhere": 404, "/api/v1/search": 400,
			"/api/v1/search?q=a&limit=0": 400} {
			status, _, body := s.get(t, path)
			var e struct{ Error string }
			if err := json.Unmarshal([]byte(body), &e); err != nil || status != want || e.Error == "" {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
	})
	t.Run("a rebound name is refused", func(t *testing.T) {
		for _, base := range []string{s.base, s.admin} {
			if status, _, body := do(t, http.MethodGet, base+"/", "Host",
				"evil.example"); status != http.StatusForbidden {
				t.Errorf("%s: %d %s", base, status, body)
			}
		}
		if status, _, _ := s.get(t, "/health", "Host", "localhost:1"); status != http.StatusOK {
			t.Errorf("localhost: %d", status)
		}
	})
	t.Run("the operator has metrics and profiles", func(t *testing.T) {
		_, _, metrics := do(t, http.MethodGet, s.admin+"/metrics")
		for _, name := range []string{"almanac_http_requests_total", "almanac_index_records 80",
			"almanac_index_lag_changes 0", "go_goroutines"} {
			if !strings.Contains(metrics, name) {
				t.Errorf("no %s in the metrics", name)
			}
		}
		if status, _, body := do(t, http.MethodGet, s.admin+
			"/debug/pprof/goroutine?debug=1"); status != http.StatusOK || !strings.Contains(body, "goroutine profile") {
			t.Errorf("%d %.100s", status, body)
		}
		if status, _, _ := s.get(t, "/metrics"); status != http.StatusNotFound {
			t.Errorf("the public listener answers /metrics with %d", status)
		}
	})
	t.Run("tools are served over HTTP",
		func(t *testing.T) { checkTools(t, &sdk.StreamableClientTransport{Endpoint: s.base + "/mcp"}) })
	t.Run("tools are served over stdio beside it", func(t *testing.T) { checkTools(t, at.stdio(t)) })
	t.Run("a toolset narrows stdio", func(t *testing.T) {
		session := connect(t, at.stdio(t, "--toolsets", "cips"))
		list, err := session.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) == 0 {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if tool.Name == "semantic_search" {
				t.Error("the group search is listed too")
			}
		}
	})
	t.Run("search works beside it", func(t *testing.T) {
		if out := at.run(t, "search", "LIP-3"); !strings.Contains(out, "lip-0003.md") {
			t.Error(out)
		}
	})
	t.Run("reindex beside it is a job of its", func(t *testing.T) {
		out, errOut, code := almanac(t, at.env, append([]string{"reindex"}, at.args()...)...)
		done := strings.Contains(out, "indexed 80 records") && strings.Contains(errOut, "a server writes the index")
		if code != 0 || !done {
			t.Errorf("%d %s %s", code, out, errOut)
		}
	})
	t.Run("a sync beside it shows up in answers", func(t *testing.T) {
		if s.finds(t, 81) {
			t.Fatal("it is there before")
		}
		at.write(t, 88)
		at.run(t, "sync")
		wait.Until(t, "the new page is found", func() bool { return s.finds(t, 81) })
	})
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// stdio is `almanac mcp` as a client starts it.
func (s site) stdio(tb testing.TB, args ...string) *sdk.CommandTransport {
	cmd := exec.Command(program(tb), append(append([]string{"mcp"}, s.args()...), args...)...)
	cmd.Env = s.env
	return &sdk.CommandTransport{Command: cmd}
}

func connect(t *testing.T, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() }) // a stateless server has nothing to close
	return session
}

// checkTools lists the tools and calls one.
func checkTools(t *testing.T, transport sdk.Transport) {
	t.Helper()
	session := connect(t, transport)
	if got := session.InitializeResult().ServerInfo.Name; got != "almanac" {
		t.Errorf("the server is %q", got)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) == 0 {
		t.Fatal(err)
	}
	var text string
	wait.Until(t, "an answer", func() bool { // stdio loads first
		res, err := session.CallTool(t.Context(),
			&sdk.CallToolParams{Name: "get_cip", Arguments: map[string]any{"id": "3"}})
		if err != nil {
			t.Fatal(err)
		}
		text = res.Content[0].(*sdk.TextContent).Text
		return !res.IsError || !strings.Contains(text, "loading")
	})
	if !strings.Contains(text, "LIP-0003") {
		t.Errorf("get_cip 3: %s", text)
	}
}

// TestASecondServerReadsUntilTheFirstIsGone runs two on one directory.
func TestASecondServerReadsUntilTheFirstIsGone(t *testing.T) {
	t.Parallel()
	at := newSite(t, 80)
	first := at.serve(t)
	line := first.ready(t)
	want := first.state(t, line)
	second := at.serve(t)
	second.await(t, "another process writes the index: this one reads it and does not sync")
	if got := second.state(t, second.ready(t)); got.String() != want.String() {
		t.Errorf("the second answers\n%s\nthe first\n%s", got, want)
	}
	at.write(t, 88)
	at.run(t, "sync")
	wait.Until(t, "the new page in the second", func() bool { return second.finds(t, 81) })
	first.kill()
	second.await(t, "the other process is gone: this one writes the index from here on")
	if line := second.ready(t); line.Records != 88 {
		t.Errorf("%d records are indexed after the change", line.Records)
	}
	at.write(t, 96)
	at.run(t, "sync")
	wait.Until(t, "what is new after the change", func() bool { return second.finds(t, 89) })
	if code := second.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestARequestUnderWayFinishesWhenTheServerStops sends half a request, the signal, and
// then the other half when the server no longer waits for requests.
func TestARequestUnderWayFinishesWhenTheServerStops(t *testing.T) {
	t.Parallel()
	at := newSite(t, 40)
	s := at.serve(t)
	s.ready(t)
	idle := dial(t, s.base)
	idle.send(t, "GET /api/v1/sources HTTP/1.1\r\nHost: localhost\r\n\r\n")
	idle.answers(t, http.StatusOK)
	conn := dial(t, s.base)
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_cip","arguments":{"id":"3"}}}`
	conn.send(t, fmt.Sprintf(
		"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, "+
			"text/event-stream\r\nMcp-Protocol-Version: 2025-06-18\r\nExpect: 100-continue\r\n"+
			"Content-Length: %d\r\n\r\n%s", len(body), body[:40]))
	conn.answers(t, http.StatusContinue) // the handler reads the body
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := idle.ReadByte(); err != io.EOF { // idle connections are closed after the listener
		t.Fatalf("a connection without a request: %v", err)
	}
	conn.send(t, body[40:])
	if answer := conn.answers(t, http.StatusOK); !strings.Contains(answer, "LIP-0003") {
		t.Error(answer)
	}
	if code := s.ended(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// connection is one to a server, whose requests and answers are written and read one by
// one.
type connection struct {
	net.Conn
	*bufio.Reader
}

func dial(t *testing.T, base string) connection {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err == nil {
		t.Cleanup(func() { _ = conn.Close() })
		err = conn.SetDeadline(time.Now().Add(wait.Bound))
	}
	if err != nil {
		t.Fatal(err)
	}
	return connection{conn, bufio.NewReader(conn)}
}

func (c connection) send(t *testing.T, text string) {
	t.Helper()
	if _, err := io.WriteString(c.Conn, text); err != nil {
		t.Fatal(err)
	}
}

// answers reads an answer to its end. It must have the status.
func (c connection) answers(t *testing.T, status int) string {
	t.Helper()
	res, err := http.ReadResponse(c.Reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != status {
		t.Fatalf("%d %s %v, want %d", res.StatusCode, body, err, status)
	}
	return string(body)
}

// TestARestartServesWhatWasThere stops and starts one directory, damaging the
// index in between.
func TestARestartServesWhatWasThere(t *testing.T) {
	t.Parallel()
	at := newSite(t, 80)
	s := at.serve(t)
	want := s.state(t, s.ready(t))
	if code := s.stop(t); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	flip := func(b []byte) []byte {
		b[len(b)*2/3] ^= 0x10
		return b
	}
	for _, c := range []struct {
		name   string
		damage func(b []byte) []byte
		of     []string
	}{
		{"undamaged", nil, nil},
		{"words truncated", func(b []byte) []byte { return b[:len(b)/2] }, []string{"keyword"}},
		{"vectors truncated", func(b []byte) []byte { return b[:len(b)-1] }, []string{"vector"}},
		{"words with a bit flipped", flip, []string{"keyword"}},
		{"vectors with a bit flipped", flip, []string{"vector"}},
		{"both empty", func([]byte) []byte { return nil }, []string{"keyword", "vector"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, engine := range c.of {
				at.damage(t, engine, c.damage)
			}
			before := at.index(t)
			s := at.serve(t)
			if got := s.state(t, s.ready(t)); got.String() != want.String() {
				t.Errorf("it answers\n%s\nbefore\n%s", got, want)
			}
			if code := s.stop(t); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if damaged := strings.Contains(s.log.String(), `"level":"WARN"`); damaged != (len(c.of) > 0) {
				t.Errorf("warned of damage: %v\n%s", damaged, s.log)
			}
			if after := at.index(t); len(c.of) == 0 && !maps.EqualFunc(before, after, bytes.Equal) {
				t.Errorf("it was written again: %d files, now %d", len(before), len(after))
			}
		})
	}
}

// index reads every file of the engines' snapshots.
func (s site) index(tb testing.TB) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	for _, path := range s.snapshots(tb) {
		err := filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files[name] = read(tb, name)
			}
			return err
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return files
}

// snapshots returns the paths of the engines' snapshots.
func (s site) snapshots(tb testing.TB) []string {
	tb.Helper()
	paths, err := filepath.Glob(filepath.Join(s.data, "*.snapshot"))
	if err != nil {
		tb.Fatal(err)
	}
	return paths
}

// damage changes every file of an engine's snapshot.
func (s site) damage(tb testing.TB, engine string, change func(b []byte) []byte) {
	tb.Helper()
	damaged := 0
	for name, content := range s.index(tb) {
		if in, _ := filepath.Rel(s.data, name); !strings.HasPrefix(in, engine) {
			continue
		}
		if err := os.WriteFile(name, change(content), 0o600); err != nil {
			tb.Fatal(err)
		}
		damaged++
	}
	if damaged == 0 {
		tb.Fatalf("no snapshot of the %s engine", engine)
	}
}

func read(tb testing.TB, name string) []byte {
	tb.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// TestAnIndexAheadOfItsCatalogIsBuiltAnew puts a catalog back that still has
// what was removed from the index since.
func TestAnIndexAheadOfItsCatalogIsBuiltAnew(t *testing.T) {
	t.Parallel()
	at := newSite(t, 48)
	at.run(t, "sync")
	at.run(t, "search", "tide")
	old := read(t, filepath.Join(at.data, "catalog.db"))
	at.write(t, 40)
	at.run(t, "sync", "--accept-shrink")
	if out := at.run(t, "search", only(45)); strings.Contains(out, "page-045") {
		t.Errorf("found what is gone:\n%s", out)
	}
	if err := os.WriteFile(filepath.Join(at.data, "catalog.db"), old, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := at.run(t, "search", only(45)); !strings.Contains(out, "page-045") {
		t.Errorf("not found though it is there again:\n%s", out)
	}
}

// TestMCPAloneLeavesTheIndexToOthers starts a server while a client's own
// tool server runs.
func TestMCPAloneLeavesTheIndexToOthers(t *testing.T) {
	t.Parallel()
	at := newSite(t, 40)
	at.run(t, "sync")
	checkTools(t, at.stdio(t))
	if snapshots := at.snapshots(t); len(snapshots) != 2 {
		t.Errorf("the index was not kept: %v", snapshots)
	}
	s := at.serve(t) // the client is still connected
	s.ready(t)
	at.write(t, 48)
	at.run(t, "sync")
	wait.Until(t, "the new page", func() bool { return s.finds(t, 41) })
	if strings.Contains(s.log.String(), "another process writes the index") {
		t.Error("the tool server holds the index lock")
	}
}

// TestStdioEndsWithItsSignal ends a tool server whose client says nothing.
func TestStdioEndsWithASignal(t *testing.T) {
	t.Parallel()
	at := newSite(t, 8)
	cmd := exec.Command(program(t), append([]string{"mcp"}, at.args()...)...)
	log := newLogReader()
	cmd.Env, cmd.Stderr = at.env, log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-log.lines: // it says when it is ready
	case err := <-ended:
		t.Fatalf("ended: %v\n%s", err, log)
	case <-time.After(wait.Bound):
		t.Fatalf("it is not ready:\n%s", log)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("%v\n%s", err, log)
		}
	case <-time.After(wait.Bound):
		_ = cmd.Process.Kill()
		t.Error("it does not stop")
	}
}

// TestTheOperatorsListenerAsksForItsToken listens where others could come in.
func TestTheOperatorsListenerAsksForItsToken(t *testing.T) {
	t.Parallel()
	at := newSite(t, 8, "ALMANAC_SERVER_ADMIN_TOKEN=hush", "ALMANAC_SERVER_ADMIN=0.0.0.0:0")
	s := &server{log: newLogReader(), exited: make(chan struct{})}
	s.cmd = exec.Command(program(t), append([]string{"serve", "--listen", "127.0.0.1:0"}, at.args()...)...)
	s.cmd.Env, s.cmd.Stderr = at.env, s.log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.cmd.Wait()
		close(s.exited)
	}()
	defer s.kill()
	_, port, err := net.SplitHostPort(s.await(t, "admin listener ready").Address)
	if err != nil {
		t.Fatal(err)
	}
	address := "http://127.0.0.1:" + port + "/metrics"
	if status, _, _ := do(t, http.MethodGet, address); status != http.StatusUnauthorized {
		t.Errorf("without the token: %d", status)
	}
	if status, _, _ := do(t, http.MethodGet, address, "Authorization", "Bearer hush"); status != http.StatusOK {
		t.Errorf("with the token: %d", status)
	}
}

// serveInProcess runs serve without a process around it, on free ports.
func serveInProcess(t *testing.T, env []string, args ...string) (s *server, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s = &server{log: newLogReader(), exited: make(chan struct{})}
	code := make(chan int, 1)
	go func() {
		args := append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)
		code <- runMain(ctx, args, env, io.Discard, s.log)
	}()
	s.base = "http://" + s.await(t, "listening").Address
	return s, sync.OnceFunc(func() {
		cancel()
		select {
		case c := <-code:
			if c != 0 {
				t.Errorf("exit code %d\n%s", c, s.log)
			}
		case <-time.After(wait.Bound):
			t.Error("it does not stop")
		}
	})
}

func TestServeInProcessLeavesNothingBehind(t *testing.T) {
	at := newSite(t, 16)
	before := goleak.IgnoreCurrent()
	s, stop := serveInProcess(t, at.env, at.args()...)
	defer stop()
	s.ready(t)
	if got := s.search(t, "LIP-1"); len(got.Items) == 0 {
		t.Error("nothing found")
	}
	stop()
	if err := leaked(before); err != nil {
		t.Error(err)
	}
}

// TestLocalFree: without a word of the operator a service counts everybody's calls, and
// a program that somebody runs in a terminal, or for a folder, not his own.
func TestLocalFree(t *testing.T) {
	for _, tt := range []struct {
		setting, network string
		inTerminal, want bool
	}{
		{"auto", "sample", false, false}, {"auto", "sample", true, true}, {"auto", t.TempDir(), false, true},
		{"on", t.TempDir(), true, false}, {"off", "sample", false, true},
	} {
		a := &app{}
		a.config.Limit.Local, a.config.Network.Name = tt.setting, tt.network
		if got := a.localFree(tt.inTerminal); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if terminal.Is(null) {
		t.Errorf("%s is taken for a terminal", os.DevNull)
	}
}
