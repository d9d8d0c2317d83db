package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/net/html"

	"almanac/ingest/networks"
	"almanac/testing/soak"
)

// shapes are of what parsers make much of.
var shapes = []string{"tide ", "-ab ", `"a b" `, "a.", "CIP-1 ", "> ", "[a](", "validatr "}

// TestServesTheLargestRequests: every text that a tool or a form of the dashboard takes is as long as it may be, in
// shapes that parsers make much of, servers of tools answer as much as they may, and the program stays within the
// memory of the smallest container. Every fifth of them is sent, in make soak all.
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
		"ALMANAC_LIMIT_WEB=0", "ALMANAC_SYNC_ALLOW=127.0.0.0/8"), confined(t, program(t)),
		"--network", file, "--data", filepath.Join(dir, "data"))}
	s.ready(t)
	for name, sent := range map[string]int{"texts of tools": s.tools(t), "fields of forms": s.forms(t),
		"answers of servers": s.answers(t)} {
		if want := map[string]int{"answers of servers": 4}[name]; sent < cmp.Or(want, soak.Rounds(100)) {
			t.Errorf("only %d %s", sent, name)
		}
	}
	if most, code := s.memory("VmHWM"), s.stop(t); code != 0 || most >= 1024 {
		t.Errorf("at most %d MB, ended with %d", most, code)
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
	if err := e.Encode(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/mcp", &body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	return s.do(t, req)
}

func (s big) do(t *testing.T, req *http.Request) (status int, answer string) {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
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
func (s big) answers(t *testing.T) (answered int) {
	for _, tool := range []string{"parts", "text", "escaped", "data"} {
		status, answer := s.call(t, "tools/call", map[string]any{"name": "call_network_mcp",
			"arguments": map[string]any{"server": "shapes", "tool": tool, "arguments": map[string]any{}}})
		if status != http.StatusOK || !strings.Contains(answer, `"called":true`) {
			t.Errorf("%s: %d %.300s", tool, status, answer)
		}
		answered++
	}
	return answered
}

// field is where a form takes a text, and form what it sends.
type (
	field struct {
		form
		name string
	}
	form struct {
		action string
		upload bool
		values url.Values
	}
)

var digits = regexp.MustCompile(`\d+`)

// forms fills every field of the forms of the dashboard in turn.
func (s big) forms(t *testing.T) (sent int) {
	s.post(t, form{action: "/cases", values: url.Values{"name": {"tides"}}})
	fields := map[string]field{}
	seen, open := map[string]bool{}, []string{"/"}
	for len(open) > 0 {
		at := open[0]
		open = open[1:]
		status, header, body := do(t, http.MethodGet, s.admin+at)
		if status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
			continue
		}
		page, err := html.Parse(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for n := range page.Descendants() {
			switch target := attributeOf(n, "href"); {
			case n.Data == "form" && strings.EqualFold(attributeOf(n, "method"), "post"):
				for _, f := range fieldsOf(n, cmp.Or(attributeOf(n, "action"), at)) {
					fields[digits.ReplaceAllString(f.action, "N")+" "+f.name] = f
				}
			case n.Data == "a" && strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "/debug"):
				of, query, _ := strings.Cut(target, "?")
				keys, _ := url.ParseQuery(query)
				kind := digits.ReplaceAllString(of, "N")
				for key := range keys {
					kind += " " + key
				}
				if !seen[kind] {
					seen[kind] = true
					open = append(open, target)
				}
			}
		}
	}
	turn := 0
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		f := fields[name]
		if f.upload {
			for _, body := range uploads(t) {
				s.post(t, form{f.action, true, url.Values{f.name: {body}}})
				sent++
			}
			continue
		}
		for _, text := range texts() {
			if turn++; !soak.Turn(turn) {
				continue
			}
			values := url.Values{}
			for name, all := range f.values {
				values[name] = slices.Clone(all)
			}
			values.Set(f.name, text)
			s.post(t, form{f.action, false, values})
			sent++
		}
	}
	return sent
}

// texts are as long as a form may be when they are encoded.
func texts() (all []string) {
	const most = 250 << 10
	for _, shape := range []string{"tide ", "tide,", `"a b" `, "[a](", "[1,", "a: &a [*a]\r\n"} {
		all = append(all, strings.Repeat(shape, most/len(url.QueryEscape(shape))))
	}
	var keys strings.Builder
	for i := 0; len(url.QueryEscape(keys.String())) < most-100; i += 100 {
		for n := range 100 {
			fmt.Fprintf(&keys, "k%d: 1\n", i+n)
		}
	}
	return append(all, keys.String()[:min(keys.Len(), most/2)])
}

// uploads are files with as much as they may hold.
func uploads(t *testing.T) (all []string) {
	const most = 8<<20 - 1<<10
	var judgments, queries strings.Builder
	for n := 0; judgments.Len() < 4<<20-4<<10; n++ {
		fmt.Fprintf(&judgments, "q%d\tdocs/%d.md\t1\n", n%10_000, n)
	}
	for n := range 10_000 {
		fmt.Fprintf(&queries, `{"_id":"q%d","text":"%s"}`+"\n", n, strings.Repeat("tide ", 150))
	}
	for _, text := range []string{queries.String(), strings.Repeat("[", most),
		strings.Repeat(`{"_id":"q","text":"a","x":[`+strings.Repeat("1,", 4_000)+"1]}\n", most/8_100)} {
		var body bytes.Buffer
		z := zip.NewWriter(&body)
		for name, content := range map[string]string{"queries.jsonl": text, "qrels.tsv": "q1\ta\t1\n"} {
			w, err := z.Create(name)
			if err == nil {
				_, err = io.WriteString(w, content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		all = append(all, body.String())
	}
	return append(all, judgments.String())
}

// post sends a form, which may be refused.
func (s big) post(t *testing.T, f form) {
	t.Helper()
	body, kind := strings.NewReader(f.values.Encode()), "application/x-www-form-urlencoded"
	if f.upload {
		var parts bytes.Buffer
		w := multipart.NewWriter(&parts)
		for name, all := range f.values {
			part, err := w.CreateFormFile(name, "tides.zip")
			if err == nil {
				_, err = io.WriteString(part, all[0])
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		body, kind = strings.NewReader(parts.String()), w.FormDataContentType()
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.admin+f.action, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Origin", s.admin)
	if status, answer := s.do(t, req); status >= 500 {
		t.Errorf("%s with %.40q: %d %.300s", f.action, f.values.Encode(), status, answer)
	}
}

// fieldsOf are the fields of a form that take a text or a file.
func fieldsOf(n *html.Node, action string) (fields []field) {
	f := form{action: action, values: url.Values{}}
	var names []string
	for x := range n.Descendants() {
		name, kind := attributeOf(x, "name"), attributeOf(x, "type")
		switch {
		case name == "":
		case kind == "file":
			return []field{{form{action, true, nil}, name}}
		case x.Data == "textarea", x.Data == "input" && (kind == "" || kind == "text" || kind == "search"):
			names = append(names, name)
			f.values.Set(name, cmp.Or(attributeOf(x, "value"), "tide"))
		case x.Data == "input" && kind != "checkbox" && kind != "radio":
			f.values.Set(name, attributeOf(x, "value"))
		}
	}
	for _, name := range names {
		fields = append(fields, field{f, name})
	}
	return fields
}

func attributeOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
