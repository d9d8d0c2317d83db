package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
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
	"almanac/api/op"
	"almanac/api/server"
	"almanac/testing/optest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func newHandler(t testing.TB, change func(*server.REST)) http.Handler {
	t.Helper()
	return observed(t, change, nil)
}

// observed is a handler whose answers are observed and logged.
func observed(t testing.TB, change func(*server.REST), watch func(*server.Config)) http.Handler {
	t.Helper()
	probe := op.New(op.Spec{ID: "get_health", Path: "/health", Probe: true, BeforeReady: true},
		func(context.Context, struct{}) (optest.Note, error) { return optest.Note{}, nil })
	cfg := server.REST{
		Serving:     op.Serving{Operations: append(optest.Operations(), probe), Timeout: time.Minute},
		PublicURL:   "https://kb.example",
		Readers:     server.NewOrigins([]string{"*"}, false),
		Description: []byte(`{"a":1}`),
	}
	if change != nil {
		change(&cfg)
	}
	listener := server.Config{Routes: cfg.Routes()}
	if watch != nil {
		watch(&listener)
	}
	h, err := server.New(listener)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestREST(t *testing.T) {
	jsonBody := []string{"Content-Type", "application/json"}
	tests := []struct {
		name, method, target, body string
		headers                    []string
		status                     int
		want, not                  string
	}{
		{"a list is served", "GET", "/api/v1/books?limit=2", "", nil, 200, `{"items":[{"id":"0000"`, "error"},
		{"an empty list is an array", "GET", "/api/v1/books?kind=atlas", "", nil, 200, `"items":[]`, "null"},
		{"a final slash makes no difference", "GET", "/api/v1/books/?limit=1", "", nil, 200, `"limit":1`, ""},
		{"an item is served", "GET", "/api/v1/books/7", "", nil, 200, `"id":"0007"`, ""},
		{"a path keeps its slashes", "GET", "/api/v1/pages/guide/setup.md", "", nil, 200,
			`{"text":"guide/setup.md","extra":{}}`, ""},
		{"an escaped path is unescaped once", "GET", "/api/v1/pages/a%2Fb+c%2525", "", nil, 200, `"text":"a/b+c%25"`,
			""},
		{"an empty path is refused", "GET", "/api/v1/pages/", "", nil, 404, `{"error":`, ""},
		{"a malformed id is 400 and named", "GET", "/api/v1/books/x", "", nil, 400,
			`{"error":"id must look like 56 or BOOK-0056"}`, ""},
		{"an unknown id is 404", "GET", "/api/v1/books/700", "", nil, 404, `{"error":"no book 0700"}`, ""},
		{"a repeated parameter is 400", "GET", "/api/v1/books?limit=1&limit=1", "", nil, 400,
			`limit must be given once`, ""},
		{"a broken escape is 400", "GET", "/api/v1/books?kind=%zz", "", nil, 400, `the query string is malformed`, ""},
		{"a semicolon is 400", "GET", "/api/v1/books?limit=1;offset=2", "", nil, 400, `the query string is malformed`,
			""},
		{"an unknown address is 404 in JSON", "GET", "/nowhere", "", nil, 404,
			`{"error":"no such endpoint; GET /api/v1 lists them, and clients of tools connect to /mcp`, ""},
		{"a wrong method is 405 in JSON", "DELETE", "/api/v1/books", "", nil, 405,
			`{"error":"DELETE is not allowed here`, ""},
		{"a panic is 500 without details", "GET", "/api/v1/break", "", nil, 500, `{"error":"internal error"}`,
			"purpose"},
		{"an internal error is 500 without details", "GET", "/api/v1/lose", "", nil, 500, `{"error":"internal error"}`,
			"sqlite"},
		{"what is closed is 503", "GET", "/api/v1/closed", "", nil, 503, `{"error":"the shelf is being painted"}`, ""},
		{"a long address is 414", "GET", "/api/v1/books?kind=" + strings.Repeat("x", server.MaxURL), "", nil, 414,
			`{"error":"the address`, ""},
		{"characters of HTML are left alone", "GET", "/api/v1/about", "", nil, 200, `a <shelf> & more`, `\u003c`},
		{"a batch is served", "POST", "/api/v1/books/batch", `{"ids":["1","700"]}`, jsonBody, 200, `null]}`, "error"},
		{"a type with a charset is JSON", "POST", "/api/v1/books/batch", `{"ids":["1"]}`,
			[]string{"Content-Type", "application/json; charset=utf-8"}, 200, `"0001"`, ""},
		{"another type is 415", "POST", "/api/v1/books/batch", `{"ids":["1"]}`, []string{"Content-Type", "text/plain"},
			415, `{"error":"Content-Type`, ""},
		{"no type is 415", "POST", "/api/v1/books/batch", `{"ids":["1"]}`, nil, 415, `{"error":"Content-Type`, ""},
		{"malformed JSON is 400", "POST", "/api/v1/books/batch", `{"ids":`, jsonBody, 400, `not valid JSON`, ""},
		{"trailing JSON is 400", "POST", "/api/v1/books/batch", `{"ids":["1"]}{}`, jsonBody, 400,
			`something follows it`, ""},
		{"a large body is 413", "POST", "/api/v1/books/batch", `{"ids":["` + strings.Repeat("1", server.MaxBody) + `"]}`,
			jsonBody, 413, `{"error":"the body must be at most 64 KiB"}`, ""},
	}
	h := newHandler(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := do(h, tt.method, tt.target, tt.body, tt.headers...)
			got := w.Body.String()
			if w.Code != tt.status || !strings.Contains(got, tt.want) || tt.not != "" && strings.Contains(got, tt.not) {
				t.Errorf("got %d %s, want %d with %s without %q", w.Code, got, tt.status, tt.want, tt.not)
			}
			checkError(t, w)
		})
	}
}

// checkError holds every refusal to {"error": "…"} and no-store.
func checkError(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if ct := w.Header().Get("Content-Type"); !strings.HasPrefix(ct, "application/json") {
		t.Errorf("Content-Type %q", ct)
	}
	if w.Code < 400 {
		return
	}
	var e map[string]string
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || len(e) != 1 || e["error"] == "" {
		t.Errorf("%s is not an error", w.Body)
	}
	if cc := w.Header().Get("Cache-Control"); cc != "no-store" {
		t.Errorf("Cache-Control %q", cc)
	}
}

// TestForms holds that Accept chooses between the media types of an answer.
func TestForms(t *testing.T) {
	h := newHandler(t, nil)
	for accept, want := range map[string]string{
		"": "application/json; charset=utf-8", "*/*": "application/json; charset=utf-8",
		"text/plain":                         "text/plain; charset=utf-8",
		"text/html, text/*;q=0.5, */*;q=0.1": "text/plain; charset=utf-8",
		"text/plain;q=0.5, application/json": "application/json; charset=utf-8",
		"image/png":                          "application/json; charset=utf-8",
		"text/plain;q=0, */*":                "application/json; charset=utf-8",
		"garbage;;":                          "application/json; charset=utf-8",
	} {
		w := do(h, "GET", "/api/v1/books/7", "", "Accept", accept)
		if got := w.Header().Get("Content-Type"); w.Code != 200 || got != want ||
			!strings.Contains(w.Header().Get("Vary"), "Accept") {
			t.Errorf("%q: %d %s, want %s", accept, w.Code, got, want)
		}
		if want[:4] == "text" && w.Body.String() != "Book 7" {
			t.Errorf("%q: %s", accept, w.Body)
		}
	}
	if w := do(h, "GET", "/api/v1/books", "", "Accept",
		"text/plain"); !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		t.Errorf("an answer of one form: %s", w.Header().Get("Content-Type"))
	}
}

// TestLists holds that a page of a list names the next one.
func TestLists(t *testing.T) {
	h := newHandler(t, nil)
	for target, want := range map[string]string{
		"/api/v1/books?limit=2&offset=4&kind=novel": `<https://kb.example/api/v1/books?kind=Novel&limit=2&offset=6>; rel="next"`,
		"/api/v1/books?limit=2&offset=98":           "",
		"/api/v1/books/7":                           "",
	} {
		if got := do(h, "GET", target, "").Header().Get("Link"); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}

func TestAGetMayBePosted(t *testing.T) {
	h := newHandler(t, nil)
	get := do(h, "GET", "/api/v1/search?q=fog&kinds=novel", "")
	post := do(h, "POST", "/api/v1/search", `{"q":"fog","kinds":["novel"]}`, "Content-Type", "application/json")
	if post.Code != 200 || post.Body.String() != get.Body.String() || post.Header().Get("ETag") != "" {
		t.Errorf("%d %s, GET says %s", post.Code, post.Body, get.Body)
	}
	if w := do(h, "POST", "/api/v1/search", `{}`, "Content-Type", "application/json"); w.Code != 400 ||
		!strings.Contains(w.Body.String(), "q is required") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestWhatMayBeKept holds what caches may keep: what GET reads, and neither probes nor
// what is posted.
func TestWhatMayBeKept(t *testing.T) {
	h := newHandler(t, nil)
	for target, keep := range map[string]string{"/api/v1/books": "no-cache", "/api/v1/openapi.json": "no-cache",
		"/health": "no-store"} {
		w := do(h, "GET", target, "")
		if w.Header().Get("Cache-Control") != keep || (w.Header().Get("ETag") != "") != (keep == "no-cache") {
			t.Errorf("%s: %v", target, w.Header())
		}
	}
	if w := do(h, "POST", "/api/v1/books/batch", `{"ids":["1"]}`, "Content-Type",
		"application/json"); w.Header().Get("ETag") != "" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("a POST: %v", w.Header())
	}
}

func TestAnyPageMayRead(t *testing.T) {
	h := newHandler(t, nil)
	for _, target := range []string{"/api/v1/books", "/api/v1/books/x", "/nowhere"} {
		w := do(h, "GET", target, "", "Origin", "https://example.org")
		if w.Header().Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %v", target, w.Header())
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'"} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q", target, name, got)
			}
		}
	}
	w := do(h, "OPTIONS", "/api/v1/books/batch", "", "Origin", "https://example.org",
		"Access-Control-Request-Method", "POST")
	if w.Code != 204 || !strings.Contains(w.Header().Get("Access-Control-Allow-Methods"), "POST") ||
		!strings.Contains(w.Header().Get("Access-Control-Allow-Headers"), "Content-Type") {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
	if w := do(h, "GET", "/api/v1/books/batch", ""); w.Code != 405 || w.Header().Get("Allow") != "POST" {
		t.Errorf("a fixed path: %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
	if w := do(h, "DELETE", "/api/v1/books", ""); w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("Allow %q", w.Header().Get("Allow"))
	}
}

func TestRetryAfterComesFromTheOperation(t *testing.T) {
	if got := do(newHandler(t, nil), "GET", "/api/v1/closed", "").Header().Get("Retry-After"); got != "90" {
		t.Errorf("Retry-After %q", got)
	}
}

func TestTheLimitSparesProbes(t *testing.T) {
	store := memory.NewStoreWithOptions(limiter.StoreOptions{})
	h := newHandler(t, func(c *server.REST) { c.Limit = limit.New(limit.Config{Name: "rest", Calls: 2, Store: store}) })
	for range 5 {
		if w := do(h, "GET", "/health", ""); w.Code != 200 || w.Header().Get("RateLimit-Limit") != "" ||
			w.Header().Get("Connection") != "close" {
			t.Fatalf("probe: %d %v", w.Code, w.Header())
		}
	}
	if w := do(h, "GET", "/api/v1/books", ""); w.Code != 200 || w.Header().Get("RateLimit-Remaining") != "1" ||
		w.Header().Get("Connection") != "" {
		t.Errorf("first: %d %v", w.Code, w.Header())
	}
	if w := do(h, "GET", "/nowhere", ""); w.Code != 404 {
		t.Errorf("second: %d", w.Code)
	}
	w := do(h, "GET", "/api/v1/books", "")
	if w.Code != 429 || w.Header().Get("Retry-After") == "" || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("third: %d %v", w.Code, w.Header())
	}
	checkError(t, w)
}

func TestWhoLeftIsToldApartFromWhatTookTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var statuses []int
		var log bytes.Buffer
		h := observed(t, nil, func(c *server.Config) {
			c.Observe = func(_, route string, status int, _ time.Duration) {
				if route == "/api/v1/wait" {
					statuses = append(statuses, status)
				}
			}
			c.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		do(h, "GET", "/api/v1/wait?secret=hunter2", "")
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequest("GET", "/api/v1/wait", nil).WithContext(ctx)
		go h.ServeHTTP(httptest.NewRecorder(), r)
		synctest.Wait()
		if len(statuses) != 1 {
			t.Errorf("got %v before the client left", statuses)
		}
		cancel()
		synctest.Wait()
		if len(statuses) != 2 || statuses[0] != 504 || statuses[1] != 499 {
			t.Errorf("got %v", statuses)
		}
		if strings.Contains(log.String(), "hunter2") || !strings.Contains(log.String(), `"status":499`) {
			t.Errorf("log: %s", &log)
		}
	})
}

func FuzzREST(f *testing.F) {
	f.Add("GET", "/api/v1/books", "limit=1", "")
	f.Add("POST", "/api/v1/books/batch", "", `{"ids":["1"]}`)
	f.Add("GET", "/api/v1/pages/%2F", "a=%00&;", "")
	h := newHandler(f, nil)
	f.Fuzz(func(t *testing.T, method, path, query, body string) {
		r, err := http.NewRequest(method, "http://localhost"+path+"?"+query, strings.NewReader(body))
		if err != nil || strings.Contains(path, "wait") || strings.Contains(path, "lose") ||
			strings.Contains(path, "break") {
			return
		}
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != 503 {
			t.Errorf("%s %s?%s: %d %s", method, path, query, w.Code, w.Body)
		}
		if w.Code >= 400 && method != "HEAD" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%s %s?%s: %s", method, path, query, w.Body)
		}
	})
}
