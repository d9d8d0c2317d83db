package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"almanac/ingest/outbound"
)

// TestRemoteToolsThroughOutbound calls the tools of a server of the SDK with its client, whose requests
// outbound.Once sends: answers as JSON and as event streams arrive, and a call arrives at the server one time
// whatever becomes of it.
func TestRemoteToolsThroughOutbound(t *testing.T) {
	for name, asJSON := range map[string]bool{"json": true, "event stream": false} {
		t.Run(name, func(t *testing.T) {
			remote, calls := remoteServer(t, asJSON)
			session := connect(t, remote, outbound.Config{
				Timeout: 5 * time.Second, MaxBody: 64 << 10,
				Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
			})
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 2 {
				t.Fatalf("tools: %v %+v", err, tools)
			}
			res, err := callTool(t, session, "echo", "hello")
			if err != nil || res.Content[0].(*sdk.TextContent).Text != "hello" || calls.Load() != 1 {
				t.Errorf("%+v, %v after %d calls", res, err, calls.Load())
			}
			if _, err := callTool(t, session, "echo", "fail"); err == nil || calls.Load() != 2 {
				t.Errorf("status 500: %v after %d calls", err, calls.Load()-1)
			}
			_, err = callTool(t, session, "long", "")
			if err == nil || calls.Load() != 3 {
				t.Errorf("too long an answer: %v after %d calls", err, calls.Load()-2)
			}
			// The SDK says of a stream only that it ended.
			if asJSON && !strings.Contains(err.Error(), "answer too large: more than 65536 bytes") {
				t.Errorf("too long an answer: %v", err)
			}
		})
	}
}

func TestRemoteToolsAreGuarded(t *testing.T) {
	remote, _ := remoteServer(t, true)
	client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil)
	_, err := client.Connect(t.Context(), transport(remote, outbound.Config{}), nil)
	if !errors.Is(err, outbound.ErrRefused) {
		t.Errorf("a server on loopback: %v", err)
	}
}

// remoteServer has the tools echo and long; a call that says "fail" ends with status 500.
func remoteServer(t *testing.T, asJSON bool) (url string, calls *atomic.Int32) {
	t.Helper()
	type said struct {
		Text string `json:"text"`
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "remote", Version: "1"}, nil)
	answer := func(text func(said) string) sdk.ToolHandlerFor[said, any] {
		return func(ctx context.Context, r *sdk.CallToolRequest, in said) (*sdk.CallToolResult, any, error) {
			if token := r.Params.GetProgressToken(); token != nil {
				_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: 1})
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text(in)}}}, nil, nil
		}
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo"}, answer(func(in said) string { return in.Text }))
	sdk.AddTool(s, &sdk.Tool{Name: "long"}, answer(func(said) string { return strings.Repeat("x", 100_000) }))
	options := &sdk.StreamableHTTPOptions{JSONResponse: asJSON}
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, options)
	calls = new(atomic.Int32)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if bytes.Contains(body, []byte(`"tools/call"`)) {
			calls.Add(1)
		}
		if bytes.Contains(body, []byte(`"fail"`)) {
			http.Error(w, "broken", http.StatusInternalServerError)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/mcp", calls
}

// transport is the SDK's over outbound. Neither resumes streams nor keeps one open in addition to the calls.
func transport(url string, c outbound.Config) sdk.Transport {
	return &sdk.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: outbound.New(c).Once()},
		MaxRetries: -1, DisableStandaloneSSE: true,
	}
}

func connect(t *testing.T, url string, c outbound.Config) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), transport(url, c), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func callTool(t *testing.T, session *sdk.ClientSession, tool, text string) (*sdk.CallToolResult, error) {
	t.Helper()
	params := &sdk.CallToolParams{Name: tool, Arguments: map[string]any{"text": text}}
	params.SetProgressToken("p")
	return session.CallTool(t.Context(), params)
}
