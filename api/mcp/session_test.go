package mcp_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"almanac/api/mcp"
)

func TestTheOfficialClient(t *testing.T) {
	srv := httptest.NewServer(newServer(t, func(c *mcp.Config) { c.Loopback = true }))
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
	clientEnd, serverEnd := pipes(t)
	s := newServer(t, nil)
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(func() {
		if err := s.Serve(ctx, "toolsets=shelf,desk", serverEnd); err != nil {
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
	if err := s.Serve(t.Context(), "toolsets=cellar", serverEnd); err == nil {
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
		clientEnd, serverEnd := pipes(t)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		wg.Go(func() {
			if err := s.Serve(ctx, "", serverEnd); err != nil {
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

func pipes(t *testing.T) (a, b sdk.Transport) {
	t.Helper()
	ar, bw := io.Pipe()
	br, aw := io.Pipe()
	return &sdk.IOTransport{Reader: ar, Writer: aw}, &sdk.IOTransport{Reader: br, Writer: bw}
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
