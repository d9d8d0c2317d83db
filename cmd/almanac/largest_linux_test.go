package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"almanac/ingest/networks"
	"almanac/testing/soak"
)

// shapes are of what parsers make much of.
var shapes = []string{"tide ", "-ab ", `"a b" `, "a.", "CIP-1 ", "> ", "[a](", "validatr "}

// TestServesTheLargestRequests: every text that a tool takes is as long as it may be, in shapes that parsers make much
// of, servers of tools answer as much as they may, and the program stays within the memory of the smallest container.
// Every fifth of them is sent, in make soak all. Forms of the dashboard are bounded in api/dashboard.
func TestServesTheLargestRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of requests; not with -short")
	}
	t.Parallel()
	dir := t.TempDir()
	text, err := networks.Text("sample")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "causeway.yaml")
	writeFile(t, file, string(text)+"\n  - {name: theirs, kind: curated, options: {dir: kept}}\n")
	writeFile(t, filepath.Join(dir, "kept", "tool-servers.yaml"), "- {slug: shapes, title: Shapes, purpose: Talks., "+
		"endpoint: '"+talkative(t)+"', transport: http, connect: Add it., hosted: true, free: true, auth: none, "+
		"tools: [parts], operator: Shapes, url: 'https://example.org/shapes'}\n")
	s := big{startProgram(t, environ(t.TempDir(), "ALMANAC_LIMIT_MCP=0", "ALMANAC_LIMIT_REST=0",
		"ALMANAC_SYNC_ALLOW=127.0.0.0/8"), confined(t, program(t)),
		"--network", file, "--data", filepath.Join(dir, "data"))}
	s.ready(t)
	if sent := s.tools(t); sent < soak.Rounds(100) {
		t.Errorf("only %d texts", sent)
	}
	s.answers(t)
	most := s.memory("VmHWM")
	if s.stop(t); most >= 1024 {
		t.Errorf("at most %d MB", most)
	}
}

// big is a server that gets the largest requests.
type big struct{ *server }

// call calls a method of MCP.
func (s big) call(t *testing.T, method string, params any) (status int, answer string) {
	t.Helper()
	var body bytes.Buffer
	e := json.NewEncoder(&body)
	e.SetEscapeHTML(false)
	if err := e.Encode(params); err != nil {
		t.Fatal(err)
	}
	req, err := rpc(method, body.String()).to(t.Context(), s.base)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// tools sends every text that a tool takes, and queries over REST.
func (s big) tools(t *testing.T) (texts int) {
	_, listed := s.call(t, "tools/list", struct{}{})
	var list struct {
		Result struct {
			Tools []struct {
				Name        string
				InputSchema struct {
					Properties map[string]struct {
						Type      any
						Enum      []any
						MaxLength int
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(listed), &list); err != nil || len(list.Result.Tools) == 0 {
		t.Fatalf("%v in %.200s", err, listed)
	}
	for i, shape := range shapes {
		for j, tool := range list.Result.Tools {
			if !soak.Turn(i*len(list.Result.Tools) + j) {
				continue
			}
			arguments := map[string]any{}
			for name, p := range tool.InputSchema.Properties {
				if p.Type == "string" && p.Enum == nil {
					room := 90_000 / len(tool.InputSchema.Properties) // of a message, with what is escaped
					most := min(cmp.Or(p.MaxLength, room), room)
					arguments[name] = strings.Repeat(shape, most/len(shape))
					texts++
				}
			}
			if len(arguments) == 0 {
				continue
			}
			status, answer := s.call(t, "tools/call", map[string]any{"name": tool.Name, "arguments": arguments})
			if status >= 500 || !strings.HasPrefix(answer, `{"jsonrpc"`) {
				t.Errorf("%s of %q: %d %.300s", tool.Name, shape, status, answer)
			}
		}
		target := "/api/v1/search?q=" + url.QueryEscape(strings.Repeat(shape, 30_000/len(shape)))
		if status, _, body := s.get(t, target[:min(len(target), 30_000)]); status >= 500 {
			t.Errorf("search of %q: %d %.300s", shape, status, body)
		}
	}
	return texts
}

// talkative is the address of a server of tools whose answers are as large as one may
// be: of many parts, of nothing in one part, as data, and of what is escaped.
func talkative(t *testing.T) (endpoint string) {
	const most = 1_000_000
	tools := sdk.NewServer(&sdk.Implementation{Name: "shapes", Version: "1"}, nil)
	for name, answer := range map[string]func(*sdk.CallToolResult){
		"parts": func(r *sdk.CallToolResult) {
			for range most / len(`{"type":"text","text":""},`) {
				r.Content = append(r.Content, &sdk.TextContent{})
			}
		},
		"text": func(r *sdk.CallToolResult) {
			r.Content = append(r.Content, &sdk.TextContent{Text: strings.Repeat("[a](", most/len("[a]("))})
		},
		"escaped": func(r *sdk.CallToolResult) {
			r.Content = append(r.Content, &sdk.TextContent{Text: strings.Repeat("\x01", most/len(`\u0001`))})
		},
		"data": func(r *sdk.CallToolResult) {
			r.Content = []sdk.Content{}
			r.StructuredContent = json.RawMessage(`{"x":[` + strings.Repeat("[],", most/len("[],")) + `[]]}`)
		},
	} {
		sdk.AddTool(tools, &sdk.Tool{Name: name, Description: "Talks."},
			func(context.Context, *sdk.CallToolRequest, map[string]any) (*sdk.CallToolResult, any, error) {
				var r sdk.CallToolResult
				answer(&r)
				return &r, nil, nil
			})
	}
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return tools },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	t.Cleanup(server.Close)
	return server.URL
}

// answers calls the tools of talkative.
func (s big) answers(t *testing.T) {
	for _, tool := range []string{"parts", "text", "escaped", "data"} {
		status, answer := s.call(t, "tools/call", map[string]any{"name": "call_network_mcp",
			"arguments": map[string]any{"server": "shapes", "tool": tool, "arguments": map[string]any{}}})
		if status != http.StatusOK || !strings.Contains(answer, `"called":true`) {
			t.Errorf("%s: %d %.300s", tool, status, answer)
		}
	}
}
