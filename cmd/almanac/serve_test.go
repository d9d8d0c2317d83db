package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"almanac/cmd/config"
	"almanac/cmd/terminal"
	"almanac/testing/wait"
)

// TestToolsAreServed asks a client's own tool server, which was there first, and a server beside it: over HTTP, over
// stdio, and for one group of tools.
func TestToolsAreServed(t *testing.T) {
	t.Parallel()
	at := newSite(t, 40)
	at.run(t, "sync")
	first := at.stdio(t)
	asked := func(session *sdk.ClientSession) {
		t.Helper()
		if got := session.InitializeResult().ServerInfo.Name; got != "almanac" {
			t.Errorf("the server is %q", got)
		}
		if answer, _ := callTool(t, session, "get_cip", map[string]any{"id": "3"}); !strings.Contains(answer, "LIP-0003") {
			t.Errorf("get_cip 3: %s", answer)
		}
	}
	asked(first)
	if snapshots := at.snapshots(t); len(snapshots) != 2 {
		t.Errorf("the index was not kept: %v", snapshots)
	}
	s := at.serve(t)
	s.ready(t)
	if strings.Contains(s.log.String(), "another process writes the index") {
		t.Error("the tool server holds the index lock")
	}
	asked(connect(t, &sdk.StreamableClientTransport{Endpoint: s.base + "/mcp"}))
	list, err := at.stdio(t, "--toolsets", "cips").ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) == 0 ||
		slices.ContainsFunc(list.Tools, func(tool *sdk.Tool) bool { return tool.Name == "semantic_search" }) {
		t.Errorf("the group cips: %v, %v", list, err)
	}
	s.stop(t)
}

// TestTheFirstCallOverStdio starts a process on an empty machine for each call, as clients do that start one for a
// call. Where nothing is indexed and nothing may be, an agent is told what to run.
func TestTheFirstCallOverStdio(t *testing.T) {
	t.Parallel()
	sample := site{fixture{network: "sample"}, filepath.Join(t.TempDir(), "data"), environ(t.TempDir())}
	for range 2 {
		session := sample.stdio(t)
		if answer, failed := callTool(t, session, "list_cips", nil); failed || strings.Contains(answer, `"total":0`) {
			t.Errorf("%v %.300s", failed, answer)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	}
	at := newSite(t, 10)
	session := at.stdio(t)
	tide := map[string]any{"query": "tide"}
	if said, failed := callTool(t, session, "search", tide); !failed ||
		!strings.Contains(said, "run `almanac sync --network "+at.network) {
		t.Errorf("an empty directory: %q", said)
	}
	at.run(t, "sync")
	wait.Until(t, "an answer", func() bool { _, failed := callTool(t, session, "search", tide); return !failed })
}

// TestStdioEndsWithASignal ends a tool server whose client says nothing.
func TestStdioEndsWithASignal(t *testing.T) {
	t.Parallel()
	at := newSite(t, 8)
	cmd := exec.CommandContext(t.Context(), program(t), append([]string{"mcp"}, at.args()...)...)
	log := newLogReader()
	cmd.Env, cmd.Stderr = at.env, log
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	<-log.lines // it says when it is ready
	if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
		t.Errorf("%v\n%s", err, log)
	}
}

// TestASecondServerReadsUntilTheFirstIsGone runs two on one directory.
func TestASecondServerReadsUntilTheFirstIsGone(t *testing.T) {
	t.Parallel()
	at := newSite(t, 80)
	first := at.serve(t)
	want := first.state(t, first.ready(t))
	second := at.serve(t)
	second.await(t, "another process writes the index: this one reads it and does not sync")
	if got := second.state(t, second.ready(t)); got != want {
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
	second.stop(t)
}

// TestARequestUnderWayFinishesWhenTheServerStops sends half a request, the signal, and
// then the other half when the server no longer waits for requests.
func TestARequestUnderWayFinishesWhenTheServerStops(t *testing.T) {
	t.Parallel()
	s := newSite(t, 40).serve(t)
	s.ready(t)
	asked := rpc("tools/call", `{"name":"get_cip","arguments":{"id":"3"}}`)
	text, reading := asked.body, make(chan struct{})
	r, err := asked.to(httptrace.WithClientTrace(t.Context(),
		&httptrace.ClientTrace{Got100Continue: func() { close(reading) }}), s.base)
	if err != nil {
		t.Fatal(err)
	}
	body, write := io.Pipe()
	r.Body = body
	r.Header.Set("Expect", "100-continue")
	answered := make(chan string, 1)
	go func() {
		res, err := (&http.Transport{ExpectContinueTimeout: wait.Bound}).RoundTrip(r)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer res.Body.Close()
		answer, _ := io.ReadAll(res.Body) // what is lacking is missed below
		answered <- string(answer)
	}()
	<-reading // the handler waits for the body
	_, err = write.Write(text[:40])
	s.signal(t, syscall.SIGTERM)
	wait.Until(t, "the listener is closed", func() bool {
		conn, err := net.Dial("tcp", r.URL.Host)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	_, wrong := write.Write(text[40:])
	if err := errors.Join(err, wrong, write.Close()); err != nil {
		t.Fatal(err)
	}
	if answer := <-answered; !strings.Contains(answer, "LIP-0003") {
		t.Error(answer)
	}
	if code := s.ended(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestARestartServesWhatWasThere stops and starts one directory, damaging the
// index in between.
func TestARestartServesWhatWasThere(t *testing.T) {
	t.Parallel()
	at := newSite(t, 80)
	s := at.serve(t)
	want := s.state(t, s.ready(t))
	s.stop(t)
	for _, c := range []struct {
		name   string
		damage func(b []byte) []byte
		of     []string
	}{
		{"undamaged", nil, nil},
		{"words truncated", func(b []byte) []byte { return b[:len(b)/2] }, []string{"keyword"}},
		{"both with a bit flipped", func(b []byte) []byte {
			b[len(b)*2/3] ^= 0x10
			return b
		}, []string{"keyword", "vector"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, engine := range c.of {
				at.damage(t, engine, c.damage)
			}
			before := at.index(t)
			s := at.serve(t)
			if got := s.state(t, s.ready(t)); got != want {
				t.Errorf("it answers\n%s\nbefore\n%s", got, want)
			}
			s.stop(t)
			if damaged := strings.Contains(s.log.String(), `"level":"WARN"`); damaged != (len(c.of) > 0) {
				t.Errorf("warned of damage: %v\n%s", damaged, s.log)
			}
			if after := at.index(t); len(c.of) == 0 && !maps.EqualFunc(before, after, bytes.Equal) {
				t.Errorf("it was written again: %d files, now %d", len(before), len(after))
			}
		})
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
	var err error
	for range 5 {
		runtime.GC() // some goroutines end with the memory they look after
		if err = goleak.Find(before); err == nil {
			return
		}
	}
	t.Error(err)
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

func TestTheProfileFollowsTheEmbeddingModel(t *testing.T) {
	model := []string{"ALMANAC_EMBED_URL=http://127.0.0.1:11434", "ALMANAC_EMBED_MODEL=all-minilm"}
	for want, environ := range map[string][]string{
		"default": nil, "transformer": model, "rrf": append(model, "ALMANAC_SEARCH_PROFILE=rrf"),
	} {
		c, _, err := config.Load("", environ, nil)
		if got := c.ProfileName(); err != nil || got != want {
			t.Errorf("%v: profile %s, want %s, %v", environ, got, want, err)
		}
	}
}
