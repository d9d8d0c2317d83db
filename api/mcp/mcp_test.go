package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
	"go.uber.org/goleak"

	"almanac/api/limit"
	"almanac/api/mcp"
	"almanac/api/op"
	"almanac/api/server"
	"almanac/testing/optest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// served is a server on a listener.
type served struct {
	*mcp.Server
	http.Handler
}

func newServer(t testing.TB, change func(*mcp.Config)) served {
	t.Helper()
	cfg := mcp.Config{
		Name: "almanac", Version: "test", Offer: mcp.Offer{Instructions: func(context.Context) string { return "Ask the shelf." },
			Prompts: []op.Prompt{{Name: "lend", Title: "Lend a book", Text: "Lend {book} to {reader}.", Arguments: []op.PromptArgument{
				{Name: "book", Description: "its title"}, {Name: "reader", Description: "a name", Missing: "anybody"}}}},
			Resources: []op.Resource{
				{URI: "kb://books", Name: "books", Read: func(context.Context) (any, error) {
					return optest.Shelf{Items: []optest.Book{{ID: "7", Shelved: "hall"}}}, nil
				}},
				{URI: "kb://motd", Name: "motd", MIMEType: "text/plain",
					Read: func(context.Context) (any, error) { return "hello", nil },
					State: func(context.Context) (op.ResourceState, error) {
						return op.ResourceState{Size: 5,
							Modified: time.Date(2030, 5, 15, 14, 0, 0, 1, time.FixedZone("", 7200))}, nil
					}},
				{URI: "kb://broken", Name: "broken",
					Read: func(context.Context) (any, error) { return nil, errors.New("sqlite: secret") },
					State: func(context.Context) (op.ResourceState, error) {
						return op.ResourceState{}, errors.New("sqlite: secret")
					}},
				{URI: "kb://panic", Name: "panic", Read: func(context.Context) (any, error) { panic("on purpose") }},
			}},
		Serving: op.Serving{Operations: optest.Operations(), Timeout: time.Minute},
	}
	if change != nil {
		change(&cfg)
	}
	s, err := mcp.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h, err := server.New(server.Config{Routes: s.Routes()})
	if err != nil {
		t.Fatal(err)
	}
	return served{s, h}
}

var plain = []string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream"}

func post(h http.Handler, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func call(tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, args)
}

func TestMessages(t *testing.T) {
	tests := []struct {
		name, body string
		status     int
		want, not  string
	}{
		{"initialize negotiates", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, 200, `"protocolVersion":"2025-06-18"`, `"logging"`},
		{"and says what the model should know", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, 200, `"instructions":"Ask the shelf."`, "error"},
		{"an old version is answered with the newest it can have",
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, 200, `"protocolVersion":"2025-11-25"`, ""},
		{"ping is answered", `{"jsonrpc":"2.0","id":"a","method":"ping"}`, 200,
			`{"jsonrpc":"2.0","id":"a","result":{}}`, ""},
		{"a tool answers twice", call("get_book", `{"book_id":7}`), 200,
			`"content":[{"type":"text","text":"{\"id\":\"0007\",\"title\":\"Book 7\",\"kind\":\"Novel\",\"tags\":[],\"added\":\"2026-01-02T02:04:05Z\",\"withdrawn\":null,\"sequel\":null}"}],"structuredContent":{"id":"0007","title":"Book 7","kind":"Novel","tags":[],"added":"2026-01-02T02:04:05Z","withdrawn":null,"sequel":null}`, "isError"},
		{"a tool takes no arguments", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"about"}}`, 200,
			`"structuredContent"`, "isError"},
		{"an integer is an id", call("get_book", `{"book_id":7}`), 200, `"id":"0007"`, "isError"},
		{"defaults come from the tool's schema", call("list_books", `{}`), 200, `"limit":10`, "isError"},
		{"bad arguments are a result", call("list_books", `{"limit":51}`), 200,
			`"text":"Invalid arguments for list_books: limit must be between 1 and 50. Correct them and call again."}],"isError":true`, "structuredContent"},
		{"an unknown argument names the nearest", call("list_books", `{"limt":5}`), 200,
			`unknown argument \"limt\": did you mean \"limit\"?`, ""},
		{"arguments of another type are a result", call("list_books", `[]`), 200, `"isError":true`, ""},
		{"nothing found is a result", call("get_book", `{"book_id":"700"}`), 200,
			`"text":"get_book found nothing: no book 0700."}],"isError":true`, ""},
		{"a failure reveals no internals", call("lose_book", `{}`), 200, `"isError":true`, "sqlite"},
		{"a panic is a result", call("break_book", `{}`), 200, `"isError":true`, "purpose"},
		{"what is closed says when to come back", call("closed_book", `{}`), 200,
			`the shelf is being painted. Try again in 90 s.`, ""},
		{"an unknown tool is an error", call("lst_books", `{}`), 200,
			`"error":{"code":-32602,"message":"unknown tool \"lst_books\": did you mean \"list_books\"?"}`, "result"},
		{"a nameless tool is an error", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, 200,
			`"code":-32602`, "result"},
		{"a call needs params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 400, `"code":-32600`, "result"},
		{"prompts are listed", `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, 200,
			`"arguments":[{"name":"book","description":"its title","required":true},{"name":"reader","description":"a name"}]`, "error"},
		{"a prompt has its arguments",
			`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"lend","arguments":{"book":"{reader}","reader":""}}}`,
			200, `"text":"Lend {reader} to anybody."`, "error"},
		{"it asks for what it needs", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"lend"}}`, 200,
			`"error":{"code":-32602,"message":"book is required: its title"}`, "result"},
		{"and takes no book", `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"lend","arguments":{"book":"` +
			strings.Repeat("a", 5000) + `"}}}`, 200, `"message":"book may have 4096 bytes at most"`, "result"},
		{"an unknown method is an error", `{"jsonrpc":"2.0","id":7,"method":"make/coffee"}`, 200,
			`"id":7,"error":{"code":-32601`, "result"},
		{"resources are listed", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, 200, `"uri":"kb://books"`,
			"error"},
		{"with size and time of change", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, 200,
			`{"annotations":{"lastModified":"2030-05-15T12:00:00Z"},"mimeType":"text/plain","name":"motd","size":5,"uri":"kb://motd"}`, "error"},
		{"one without a state is listed", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, 200,
			`{"mimeType":"application/json","name":"broken","uri":"kb://broken"}`, "secret"},
		{"templates are an empty list", `{"jsonrpc":"2.0","id":1,"method":"resources/templates/list"}`, 200,
			`"resourceTemplates":[]`, "error"},
		{"a resource is read as JSON",
			`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"kb://books"}}`, 200,
			`"mimeType":"application/json","text":"{\"items\":[{\"id\":\"7\"`, `"error":{`},
		{"a resource may be text", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"kb://motd"}}`,
			200, `"mimeType":"text/plain","text":"hello"`, "error"},
		{"an unknown resource is an error",
			`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"kb://nothing"}}`, 200,
			`"error":{"code":-32002,"message":"Resource not found; resources/list names the resources","data":{"uri":"kb://nothing"}}`, "result"},
		{"a resource that fails reveals nothing",
			`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"kb://broken"}}`, 200, `"code":-32603`,
			"sqlite"},
		{"a resource that panics is an error",
			`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"kb://panic"}}`, 200, `"code":-32603`,
			"purpose"},
		{"broken JSON is a parse error", `{"jsonrpc":`, 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700`, ""},
		{"so is nothing", ``, 400, `"code":-32700`, ""},
		{"a batch is refused", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, 400,
			`"code":-32600,"message":"batches are not supported`, "result"},
		{"a string is not a message", `"ping"`, 400, `"code":-32600`, ""},
		{"a message has a version", `{"id":1,"method":"ping"}`, 400,
			`"id":1,"error":{"code":-32600,"message":"jsonrpc must be \"2.0\""}`, ""},
		{"an id is not a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 400,
			`"id":null,"error":{"code":-32600`, ""},
		{"an id is not null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400, `"code":-32600`, ""},
		{"an id keeps its value", `{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}`, 200,
			`"id":9007199254740991`, ""},
		{"a name in another case is refused", `{"jsonrpc":"2.0","id":1,"METHOD":"ping","method":"tools/list"}`, 400,
			`"id":1,"error":{"code":-32600,"message":"\"METHOD\" must be written method"}`, "result"},
		{"alone too", `{"jsonrpc":"2.0","Id":1,"method":"ping"}`, 400, `"id":null,"error":{"code":-32600`, "result"},
		{"in other letters too", `{"j\u017fonrpc":"2.0","id":1,"method":"ping"}`, 400, `"code":-32600`, "result"},
		{"a name is there once", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, 400,
			`"id":1,"error":{"code":-32600,"message":"a message has \"method\" once"}`, "result"},
		{"however it is written", `{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"tools/list"}`, 400,
			`"code":-32600`, "result"},
		{"and params", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"about"},"params":{"name":"x"}}`, 400,
			`"code":-32600`, "result"},
		{"other names are nobody's business", `{"jsonrpc":"2.0","id":1,"method":"ping","trace":{"Method":1,"method":2}}`, 200,
			`"result":{}`, "error"},
		{"a method is a string", `{"jsonrpc":"2.0","id":1,"method":5}`, 400, `"code":-32600`, ""},
		{"a message without a method is none", `{"jsonrpc":"2.0","id":1}`, 400, `"code":-32600`, ""},
		{"a request without an id is refused", `{"jsonrpc":"2.0","method":"tools/list"}`, 400, `"code":-32600`, ""},
		{"a notification is accepted", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ``, "x"},
		{"an unknown notification too", `{"jsonrpc":"2.0","method":"notifications/strange"}`, 202, ``, "x"},
		{"the list has one page", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`, 200,
			`"code":-32602`, ""},
	}
	s := newServer(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := post(s, "/mcp", tt.body, plain...)
			got := w.Body.String()
			if w.Code != tt.status || !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) {
				t.Errorf("got %d %s, want %d with %s without %q", w.Code, got, tt.status, tt.want, tt.not)
			}
			if w.Body.Len() > 0 &&
				(!json.Valid(w.Body.Bytes()) || w.Header().Get("Content-Type") != "application/json") {
				t.Errorf("%s %s is not JSON", w.Header().Get("Content-Type"), got)
			}
		})
	}
}

func TestRequests(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	tests := []struct {
		name, method, body string
		headers            []string
		status             int
		want               string
	}{
		{"GET is refused", "GET", "", nil, 405, `clients of agents connect to this address`},
		{"DELETE is refused", "DELETE", "", nil, 405, `{"error":"DELETE is not allowed here`},
		{"another type is refused", "POST", ping, []string{"Content-Type", "text/plain"}, 415,
			`{"error":"Content-Type must be application/json"}`},
		{"another answer is refused", "POST", ping, []string{"Content-Type", "application/json", "Accept", "text/html"},
			406, `{"error":"Accept must`},
		{"any answer is JSON", "POST", ping, []string{"Content-Type", "application/json", "Accept", "*/*"}, 200,
			`"result":{}`},
		{"JSON alone will do", "POST", ping, []string{"Content-Type", "application/json", "Accept", "application/json"},
			200, `"result":{}`},
		{"a large body is refused", "POST", `{"x":"` + strings.Repeat("x", mcp.MaxBody) + `"}`, plain, 413,
			`{"error":"the body must be at most 128 KiB"}`},
		{"an unknown version is refused", "POST", ping,
			append([]string{"Mcp-Protocol-Version", "1999-01-01"}, plain...), 400, `"code":-32022`},
		{"but a client that connects with one has the newest", "POST",
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			append([]string{"Mcp-Protocol-Version", "2024-11-05"}, plain...), 200, `"protocolVersion":"2025-11-25"`},
		{"a foreign page is refused", "POST", ping, append([]string{"Origin", "https://evil.example"}, plain...), 403,
			`{"error":"pages of this origin`},
		{"an opaque page too", "POST", ping, append([]string{"Origin", "null"}, plain...), 403, `{"error":`},
		{"a page of this machine too, in public", "POST", ping,
			append([]string{"Origin", "http://localhost:3000"}, plain...), 403, `{"error":`},
		{"an allowed page may call", "POST", ping, append([]string{"Origin", "https://kb.example"}, plain...), 200,
			`"result":{}`},
		{"an allowed page may ask first", "OPTIONS", "", []string{"Origin", "https://kb.example"}, 204, ``},
		{"a resumed stream is refused", "POST", ping, append([]string{"Last-Event-ID", "1"}, plain...), 400,
			`"code":-32600`},
	}
	s := newServer(t, func(c *mcp.Config) { c.Origins = server.NewOrigins([]string{"https://kb.example/"}, false) })
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, "/mcp", strings.NewReader(tt.body))
			for i := 0; i < len(tt.headers); i += 2 {
				r.Header.Set(tt.headers[i], tt.headers[i+1])
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("got %d %s, want %d with %s", w.Code, w.Body, tt.status, tt.want)
			}
			if w.Body.Len() > 0 && !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s is not JSON", w.Body)
			}
			if w.Code == 405 && w.Header().Get("Allow") == "" {
				t.Error("405 without Allow")
			}
		})
	}
}

func TestALoopbackListenerIsNoOneElses(t *testing.T) {
	s := newServer(t, func(c *mcp.Config) { c.Origins = server.NewOrigins(nil, true) })
	for name, tt := range map[string]struct {
		host, origin string
		status       int
	}{
		"localhost":        {"localhost:8080", "", 200},
		"its address":      {"127.0.0.1:8080", "http://127.0.0.1:3000", 200},
		"its IPv6 address": {"[::1]:8080", "http://[::1]", 200},
		"a page of its":    {"localhost", "http://localhost:3000", 200},
		"a foreign page":   {"localhost", "https://evil.example", 403},
	} {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		r.Host = tt.host
		r.Header.Set("Content-Type", "application/json")
		if tt.origin != "" {
			r.Header.Set("Origin", tt.origin)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != tt.status || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// modern is a request of the version without sessions.
func modern(method, params string) (string, []string) {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	if params != "" {
		meta += "," + params
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, meta)
	return body, append([]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}, plain...)
}

func TestTheVersionWithoutSessions(t *testing.T) {
	s := newServer(t, nil)
	tests := []struct {
		name, method, params, mcpName string
		status                        int
		want                          string
	}{
		{"discovery names the versions", "server/discover", "", "", 200,
			`"supportedVersions":["2026-07-28","2025-11-25","2025-06-18"]`},
		{"the list may be cached", "tools/list", "", "", 200, `"ttlMs":3600000`},
		{"snapshots may be kept for a minute", "resources/list", "", "", 200, `"cacheScope":"public"`},
		{"and their contents", "resources/read", `"uri":"kb://motd"`, "kb://motd", 200, `"ttlMs":60000`},
		{"no templates may be kept for an hour", "resources/templates/list", "", "", 200, `"ttlMs":3600000`},
		{"results are complete", "tools/list", "", "", 200, `"resultType":"complete"`},
		{"a tool is called", "tools/call", `"name":"about","arguments":{}`, "about", 200,
			`"structuredContent":{"text"`},
		{"the name must be in the headers", "tools/call", `"name":"about"`, "", 400, `"code":-32020`},
		{"and the same", "tools/call", `"name":"about"`, "get_book", 400, `"code":-32020`},
		{"an unknown tool is 400", "tools/call", `"name":"x"`, "x", 400, `"code":-32602`},
		{"an unknown method is 404", "make/coffee", "", "", 404, `"code":-32601`},
		{"prompts are listed", "prompts/list", "", "", 200, `"name":"lend"`},
		{"an unknown resource is invalid", "resources/read", `"uri":"kb://nothing"`, "kb://nothing", 400,
			`"code":-32602`},
		{"initialize is of the past", "initialize",
			`"protocolVersion":"2026-07-28","capabilities":{},"clientInfo":{"name":"t","version":"1"}`, "", 404,
			`"code":-32601`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body, headers := modern(tt.method, tt.params)
			if tt.mcpName != "" {
				headers = append(headers, "Mcp-Name", tt.mcpName)
			}
			w := post(s, "/mcp", body, headers...)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) || !json.Valid(w.Body.Bytes()) {
				t.Errorf("got %d %s, want %d with %s", w.Code, w.Body, tt.status, tt.want)
			}
		})
	}
}

// TestPromptsAreOffByDefault: clients show them beside what their person has written.
func TestPromptsAreOffByDefault(t *testing.T) {
	s := newServer(t, func(c *mcp.Config) { c.Prompts = nil })
	list, headers := modern("prompts/list", "")
	discover, toDiscover := modern("server/discover", "")
	for _, tt := range []struct {
		body, want, not string
		headers         []string
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, `"error":{"code":-32601`, "result", plain},
		{`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"lend"}}`, `"error":{"code":-32601`, "result",
			plain},
		{list, `"error":{"code":-32601`, "result", headers},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			`"capabilities":{"`, "prompts", plain},
		{discover, `"capabilities":{"`, "prompts", toDiscover},
	} {
		w := post(s, "/mcp", tt.body, tt.headers...)
		if got := w.Body.String(); !strings.Contains(got, tt.want) || strings.Contains(got, tt.not) {
			t.Errorf("%s: %d %s", tt.body, w.Code, w.Body)
		}
	}
}

func TestEveryPOSTCounts(t *testing.T) {
	store := memory.NewStoreWithOptions(limiter.StoreOptions{})
	s := newServer(t, func(c *mcp.Config) { c.Limit = limit.New(limit.Config{Name: "mcp", Calls: 4, Store: store}) })
	for _, body := range []string{listTools, `{`, `[]`} {
		if w := post(s, "/mcp", body, plain...); w.Code == 429 || w.Header().Get("RateLimit-Limit") != "4" {
			t.Fatalf("%s: %d %v", body, w.Code, w.Header())
		}
	}
	if w := post(s, "/mcp", "x", "Origin", "https://evil.example"); w.Code != 403 {
		t.Fatalf("foreign: %d", w.Code)
	}
	w := post(s, "/mcp", listTools, plain...)
	if w.Code != 429 || w.Header().Get("Retry-After") == "" ||
		!strings.HasPrefix(w.Body.String(),
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"the limit of 4 calls in 15 minutes is used up; try again in `) {
		t.Errorf("got %d %s %v", w.Code, w.Body, w.Header())
	}
}

func TestConnectingIsNotCalling(t *testing.T) {
	s := newServer(t, func(c *mcp.Config) {
		c.Limit = limit.New(limit.Config{Name: "mcp", Calls: 1})
		c.Connect = limit.New(limit.Config{Name: "connect", Calls: 10})
	})
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for range 2 {
		for _, body := range []string{initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":"a","method":"ping"}`, `{"jsonrpc":"2.0","id":2,"method":"server/discover"}`} {
			if w := post(s, "/mcp", body, plain...); w.Code == 429 || w.Header().Get("RateLimit-Limit") != "10" {
				t.Fatalf("%s: %d %v", body, w.Code, w.Header())
			}
		}
	}
	if w := post(s, "/mcp", call("list_books", `{}`), plain...); w.Code != 200 {
		t.Errorf("a call after connecting: %d %s", w.Code, w.Body)
	}
	for _, body := range []string{ // readers differ in which of two they take
		`{"jsonrpc":"2.0","id":3,"method":"tools/list","METHOD":"ping"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/list","method":"ping"}`,
	} {
		if w := post(s, "/mcp", body, plain...); w.Code != 429 {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	// What only looks like a notification is a call.
	if w := post(s, "/mcp", `{"jsonrpc":"2.0","id":3,"method":"notifications/initialized"}`, plain...); w.Code != 429 {
		t.Errorf("a request: %d %s", w.Code, w.Body)
	}
	for range 2 {
		post(s, "/mcp", initialize, plain...)
	}
	if w := post(s, "/mcp", initialize, plain...); w.Code != 429 ||
		!strings.Contains(w.Body.String(), `"code":-32000`) {
		t.Errorf("connecting has a limit too: %d %s", w.Code, w.Body)
	}
}

// TestErrorsRepeatLittle sends long names of everything that errors name.
func TestErrorsRepeatLittle(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	message := func(id, method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	}
	s := newServer(t, nil)
	for name, w := range map[string]*httptest.ResponseRecorder{
		"id":       post(s, "/mcp", message(`"`+long+`"`, "ping", `{}`), plain...),
		"method":   post(s, "/mcp", message("1", long, `{}`), plain...),
		"tool":     post(s, "/mcp", call(long, `{}`), plain...),
		"argument": post(s, "/mcp", call("list_books", `{"`+long+`":1}`), plain...),
		"value":    post(s, "/mcp", call("list_books", `{"kind":"`+long+`"}`), plain...),
		"book":     post(s, "/mcp", call("get_book", `{"book_id":"`+long+`"}`), plain...),
		"repeated": post(s, "/mcp", call("list_books", `{"`+long+`":1,"`+long[:20_000]+`":1}`), plain...),
		"resource": post(s, "/mcp", message("1", "resources/read", `{"uri":"kb://`+long+`"}`), plain...),
		"version": post(s, "/mcp", message("1", "ping", `{}`),
			append([]string{"Mcp-Protocol-Version", long}, plain...)...),
		"initialize": post(s, "/mcp", message("1", "initialize", `{"protocolVersion":"`+long+`"}`), plain...),
		"tools":      post(s, "/mcp?tools="+long, listTools, plain...),
	} {
		if text := w.Body.String(); strings.Contains(text, strings.Repeat("x", 81)) {
			t.Errorf("%s: %d %.300s (%d bytes)", name, w.Code, text, len(text))
		}
	}
}

func TestAToolEndsWhenItsClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended string
		s := newServer(t, func(c *mcp.Config) {
			c.Timeout = time.Hour
			c.Observe = func(tool, outcome string, _ time.Duration) { ended = tool + " " + outcome }
		})
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(call("wait_book", `{}`))).WithContext(ctx)
		r.Header.Set("Content-Type", "application/json")
		go s.ServeHTTP(httptest.NewRecorder(), r)
		synctest.Wait()
		if ended != "" {
			t.Fatalf("%s before the client left", ended)
		}
		cancel()
		synctest.Wait()
		if ended != "wait_book error" {
			t.Errorf("got %q", ended)
		}
	})
}

func TestADeadlineIsAResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, func(c *mcp.Config) { c.Timeout = 3 * time.Second })
		w := post(s, "/mcp", call("wait_book", `{}`), plain...)
		if w.Code != 200 || !strings.Contains(w.Body.String(), "wait_book took longer than 3s") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestNewRefuses(t *testing.T) {
	ops := optest.Operations()
	list := op.New(op.Spec{ID: "x", Tool: "x"}, func(context.Context, struct{}) ([]string, error) { return nil, nil })
	for name, cfg := range map[string]mcp.Config{
		"two tools of one name":      {Name: "a", Version: "1", Serving: op.Serving{Operations: append(ops, ops[0])}},
		"a tool that answers a list": {Name: "a", Version: "1", Serving: op.Serving{Operations: []op.Operation{list}}},
		"two resources on one URI": {Name: "a", Version: "1",
			Offer: mcp.Offer{Resources: []op.Resource{{URI: "kb://a"}, {URI: "kb://a"}}}},
		"a server without a name": {Serving: op.Serving{Operations: ops}},
	} {
		if _, err := mcp.New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzPOST(f *testing.F) {
	for _, body := range []string{listTools, call("about", `{}`), call("search_books", `{"query":5}`), `{`, `[]`,
		`{"jsonrpc":"2.0","id":"x","method":"resources/read","params":{"uri":"kb://motd"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","ID":1,"method":"initialize","params":null}`} {
		f.Add([]byte(body), "")
	}
	body, _ := modern("tools/list", "")
	f.Add([]byte(body), "2026-07-28")
	s := newServer(f, func(c *mcp.Config) { c.Timeout = time.Second })
	f.Fuzz(func(t *testing.T, body []byte, version string) {
		w := post(s, "/mcp", string(body), append([]string{"Mcp-Protocol-Version", version}, plain...)...)
		if w.Code >= 500 || w.Body.Len() > 0 && !json.Valid(w.Body.Bytes()) &&
			!strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream") {
			t.Errorf("%s (%s): %d %s", body, version, w.Code, w.Body)
		}
	})
}

func BenchmarkToolsList(b *testing.B) {
	s := newServer(b, nil)
	for b.Loop() {
		post(s, "/mcp", listTools, plain...)
	}
}

func BenchmarkToolCall(b *testing.B) {
	s := newServer(b, nil)
	for b.Loop() {
		post(s, "/mcp", call("about", `{}`), plain...)
	}
}
