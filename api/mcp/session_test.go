package mcp_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"almanac/api/mcp"
	"almanac/api/server"
)

func TestTheOfficialClient(t *testing.T) {
	srv := httptest.NewServer(newServer(t, func(c *mcp.Config) { c.Origins = server.NewOrigins(nil, true) }))
	defer srv.Close()
	httpClient := &http.Client{Transport: &http.Transport{}}
	defer httpClient.CloseIdleConnections()
	client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil)
	session, err := client.Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: srv.URL + "/mcp", HTTPClient: httpClient, DisableStandaloneSSE: true},
		nil)
	if err != nil {
		t.Fatal(err)
	}
	useSession(t, session)
}

func TestStdio(t *testing.T) {
	clientEnd, in, out := pipes(t)
	s := newServer(t, nil)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(func() {
		if err := s.Serve(ctx, "toolsets=shelf,desk", in, out); err != nil {
			t.Error(err)
		}
	})
	defer wg.Wait()
	defer cancel()
	client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), clientEnd, nil)
	if err != nil {
		t.Fatal(err)
	}
	useSession(t, session)
	if err := s.Serve(t.Context(), "toolsets=cellar", in, out); err == nil {
		t.Error("an unknown toolset is served")
	}
}

// TestACallOverStdioWaitsForTheIndex: whoever starts a program for one call has no other
// time to come back.
func TestACallOverStdioWaitsForTheIndex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		complete := func() (bool, float64) { return time.Since(began) > 9*time.Second, 0.5 }
		s := newServer(t, func(c *mcp.Config) { c.Ready = complete })
		clientEnd, in, out := pipes(t)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		wg.Go(func() {
			if err := s.Serve(ctx, "", in, out); err != nil {
				t.Error(err)
			}
		})
		client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), clientEnd, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_books"})
		if err != nil || res.IsError {
			t.Errorf("a call before the index is complete: %v, %+v", err, res)
		}
	})
}

// pipes are the two ends of a stream.
func pipes(t *testing.T) (client sdk.Transport, in io.ReadCloser, out io.WriteCloser) {
	t.Helper()
	answers, out := io.Pipe()
	in, requests := io.Pipe()
	return &sdk.IOTransport{Reader: answers, Writer: requests}, in, out
}

// TestALineOverStdioIsAnsweredAsOverHTTP sends lines that are no messages, or none that
// is served: each has the error of its request by POST, and the next message is answered.
func TestALineOverStdioIsAnsweredAsOverHTTP(t *testing.T) {
	s := newServer(t, nil)
	answers, out := io.Pipe()
	in, requests := io.Pipe()
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		if err := s.Serve(t.Context(), "", in, out); err != nil {
			t.Error(err)
		}
	})
	defer requests.Close()
	lines := bufio.NewScanner(answers)
	lines.Buffer(nil, 1<<20)
	const ping = `{"jsonrpc":"2.0","id":99,"method":"ping"}`
	talk := func(line string) (said []string) {
		t.Helper()
		go func() { _, _ = io.WriteString(requests, line+ping+"\r\n") }()
		for lines.Scan() && lines.Text() != `{"jsonrpc":"2.0","id":99,"result":{}}` {
			said = append(said, lines.Text())
		}
		return said
	}
	said := talk("\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\r\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	if len(said) != 1 || !strings.Contains(said[0], `"protocolVersion":"2025-06-18"`) {
		t.Fatalf("a stream that begins with a byte order mark: %v", said)
	}
	for _, line := range []string{
		"npm WARN something", ping + ping, "[" + ping + "]", "[]", "{}", "5", "null", `"ping"`, "{",
		`{"id":5,"method":"ping"}`,
		`{"jsonrpc":"1.0","id":5,"method":"ping"}`, `{"jsonrpc":"2.0","id":5}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		`{"jsonrpc":"2.0","id":5,"method":7}`, `{"jsonrpc":"2.0","id":5,"error":7}`, "\xff",
		`{"jsonrpc":"2.0","id":5,"method":"ping","METHOD":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/strange"}`, `{"jsonrpc":"2.0","id":5,"result":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}`,
		`{"jsonrpc":"2.0","id":5,"method":"prompts/list","params":5}`,
	} {
		want := post(s, "/mcp", line, plain...).Body.String()
		if said := talk(line + "\n"); strings.Join(said, "\n") != want {
			t.Errorf("%s: %v, over HTTP %s", line, said, want)
		}
	}
	if said := talk("\n \r\n\n"); len(said) > 0 {
		t.Errorf("empty lines: %v", said)
	}
	long := `"code":-32600,"message":"a message must be at most 128 KiB`
	for _, n := range []int{mcp.MaxBody, 10 * mcp.MaxBody} {
		if said := talk(strings.Repeat("x", n) + "\n"); len(said) != 1 || !strings.Contains(said[0], long) {
			t.Errorf("a long line: %v", said)
		}
	}
}

func useSession(t *testing.T, session *sdk.ClientSession) {
	t.Helper()
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 8 || tools.Tools[0].Name != "list_books" {
		t.Fatalf("tools: %v %+v", err, tools)
	}
	for tool, isError := range map[string]bool{"about": false, "break_book": true} {
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool})
		if err != nil || res.IsError != isError {
			t.Errorf("%s: %v %+v", tool, err, res)
		}
	}
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "nothing"}); err == nil {
		t.Error("an unknown tool is not an error")
	}
	res, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "kb://motd"})
	if err != nil || res.Contents[0].Text != "hello" {
		t.Errorf("resource: %v %+v", err, res)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}
