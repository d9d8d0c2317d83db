package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"almanac/api/limit"
	"almanac/api/op"
	"almanac/api/server"
)

var long = strings.Repeat("the tide comes in, the tide goes out; ", 100)

// answers are one of each type.
var answers = map[string]server.Answer{
	"/data":   {Type: server.JSONType, Body: []byte(long), Keep: server.Revalidate},
	"/page":   {Type: "text/html", Body: []byte(long), Keep: server.Revalidate, Weak: true, Page: &server.Policy{}},
	"/asset":  {Type: "text/css", Body: []byte(long), Keep: server.Immutable},
	"/probe":  {Type: server.JSONType, Body: []byte(long)},
	"/short":  {Type: server.JSONType, Body: []byte("{}"), Keep: server.Revalidate},
	"/gone":   {Status: 404, Type: "text/html", Body: []byte(long), Page: &server.Policy{}},
	"/empty":  {Type: "text/html", Body: nil, Keep: server.Revalidate},
	"/done":   {Status: 204},
	"/moved":  {Status: 301, Goto: "/page"},
	"/stream": {Raw: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "bit by bit") })},
}

func listen(t testing.TB, cfg server.Config) http.Handler {
	t.Helper()
	h, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func do(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Add(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func serve(a server.Answer) func(*http.Request) (*server.Answer, error) {
	return func(*http.Request) (*server.Answer, error) { return &a, nil }
}

// decoded is the body as it was before it was compressed.
func decoded(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var r io.Reader = w.Body
	var err error
	switch w.Header().Get("Content-Encoding") {
	case "gzip":
		r, err = gzip.NewReader(w.Body)
	case "zstd":
		d, e := zstd.NewReader(w.Body, zstd.WithDecoderConcurrency(1))
		defer d.Close()
		r, err = d, e
	}
	var b []byte
	if err == nil {
		b, err = io.ReadAll(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAnswers asks for every type of answer by every method, under every condition
// and in every coding.
func TestAnswers(t *testing.T) {
	var routes []server.Route
	for path, a := range answers {
		routes = append(routes, server.Route{Method: "GET", Path: path, Serve: serve(a)},
			server.Route{Method: "POST", Path: path, Serve: serve(server.Answer{Type: a.Type, Body: a.Body, Page: a.Page})})
	}
	h := listen(t, server.Config{Routes: routes})
	keeps := map[server.Keep]string{server.NoStore: "no-store", server.Revalidate: "no-cache",
		server.Immutable: "public, max-age=31536000, immutable"}
	codings := map[string]string{"": "", "identity": "", "gzip": "gzip", "gzip, zstd": "zstd", "gzip;q=0": "",
		"zstd;q=0.1, gzip": "gzip"}
	for path, a := range answers {
		status := max(a.Status, 200)
		tagged := a.Keep == server.Revalidate && status == 200
		tags := map[string]string{} // by coding
		for accept, coding := range codings {
			what := fmt.Sprintf("%s in %q", path, accept)
			if len(a.Body) < 1000 {
				coding = ""
			}
			get := do(h, "GET", path, "", "Accept-Encoding", accept)
			tag := get.Header().Get("ETag")
			tags[coding] = tag
			if get.Code != status || (tag != "") != tagged || get.Header().Get("Content-Encoding") != coding ||
				strings.HasPrefix(tag, "W/") != a.Weak || get.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: %d %v", what, get.Code, get.Header())
			}
			if a.Type != "" && (get.Header().Get("Content-Type") != a.Type || get.Header().Get("Cache-Control") != keeps[a.Keep] ||
				get.Header().Get("Vary") != "Accept-Encoding" || get.Header().Get("Content-Length") != fmt.Sprint(get.Body.Len())) {
				t.Errorf("%s: %v of %d bytes", what, get.Header(), get.Body.Len())
			}
			head := do(h, "HEAD", path, "", "Accept-Encoding", accept)
			if want := get.Header(); head.Code != status || a.Raw == nil && head.Body.Len() > 0 ||
				!maps.EqualFunc(head.Header(), want, slices.Equal) && a.Raw == nil {
				t.Errorf("%s: HEAD has %d %v, GET %v", what, head.Code, head.Header(), want)
			}
			if body := decoded(t, get); a.Type != "" && body != string(a.Body) {
				t.Errorf("%s: %.80s", what, body)
			}
			bare := strings.TrimPrefix(tag, "W/")
			for condition, same := range map[string]bool{bare: true, "W/" + bare: true, `"x", ` + bare + `, "y"`: true,
				"*": true, `"x"`: false, strings.Trim(bare, `"`): false, strings.TrimSuffix(bare, `"`) + `x"`: false} {
				w := do(h, "GET", path, "", "Accept-Encoding", accept, "If-None-Match", condition)
				if same = same && tagged; (w.Code == 304) != same {
					t.Errorf("%s, if not %s: %d", what, condition, w.Code)
				}
				if same && (w.Body.Len() > 0 || w.Header().Get("ETag") != tag || w.Header().Get("Content-Type") != "" ||
					w.Header().Get("Vary") == "" || w.Header().Get("Cache-Control") != "no-cache") {
					t.Errorf("%s, not modified: %v %s", what, w.Header(), w.Body)
				}
			}
			post := do(h, "POST", path, "", "Accept-Encoding", accept, "If-None-Match", "*")
			if a.Type != "" && (post.Code != 200 || post.Header().Get("ETag") != "" || decoded(t, post) != string(a.Body) ||
				post.Header().Get("Cache-Control") != "no-store") {
				t.Errorf("%s: POST has %d %v", what, post.Code, post.Header())
			}
		}
		if different := len(tags) > 1 && tags[""] != tags["gzip"]; tagged && !a.Weak && len(a.Body) > 1000 != different ||
			a.Weak && different {
			t.Errorf("%s: tags %v", path, tags)
		}
		for _, method := range []string{"PUT", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			w := do(h, method, path, "")
			if want := fmt.Sprintf(`{"error":"%s is not allowed here; allowed: GET, HEAD, POST"}`, method); w.Code != 405 ||
				w.Header().Get("Allow") != "GET, HEAD, POST" || w.Body.String() != want ||
				w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s: %d %v %s", method, path, w.Code, w.Header(), w.Body)
			}
		}
	}
}

// TestRoutes holds which row answers.
func TestRoutes(t *testing.T) {
	row := func(method, path string, more ...func(*server.Route)) server.Route {
		rt := server.Route{Method: method, Path: path, Serve: func(r *http.Request) (*server.Answer, error) {
			return &server.Answer{Type: "text/plain",
				Body: fmt.Appendf(nil, "%s %s %s%s", method, path, r.PathValue("id"), r.PathValue("path"))}, nil
		}}
		for _, change := range more {
			change(&rt)
		}
		return rt
	}
	forPeople := func(rt *server.Route) { rt.Page = true }
	cfg := server.Config{Routes: []server.Route{
		row("GET", "/"), row("GET", "/books/{id}"), row("POST", "/books/batch"), row("GET", "/books/{id}/votes"),
		row("GET", "/pages/{path...}"), row("GET", "/docs", forPeople), row("GET", "/docs/{path...}", forPeople),
		row("GET", "/status", func(rt *server.Route) {
			rt.When = func(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }
		}),
		row("POST", "/status"), row("GET", "/shared", func(rt *server.Route) { rt.Shared = true }), row("", "/any"), row("", ""),
		row("GET", "/members", func(rt *server.Route) {
			rt.Gate = func(r *http.Request) *server.Answer {
				if r.Header.Get("Accept") == "member" {
					return nil
				}
				return (&server.Refusal{Status: 401, Message: "who is it?"}).JSON()
			}
		}),
	}}
	h := listen(t, cfg)
	for _, tt := range []struct {
		method, target, accept string
		status                 int
		want                   string
	}{
		{"GET", "/", "", 200, "GET / "},
		{"GET", "/books/7", "", 200, "GET /books/{id} 7"},
		{"GET", "/books/7/", "", 200, "GET /books/{id} 7"},
		{"GET", "/books/batch/votes", "", 200, "GET /books/{id}/votes batch"},
		{"POST", "/books/batch", "", 200, "POST /books/batch "},
		{"GET", "/books/batch", "", 405, "allowed: POST"},
		{"POST", "/books/7", "", 405, "allowed: GET, HEAD"},
		{"GET", "/books/a%2Fb+c%2525", "", 200, "GET /books/{id} a/b+c%25"},
		{"GET", "/books/a+b", "", 200, "GET /books/{id} a+b"},
		{"GET", "/pages/a/b.md", "", 200, "GET /pages/{path...} a/b.md"},
		{"GET", "/pages/a//b", "", 200, "GET /pages/{path...} a//b"},
		{"GET", "/pages/", "", 200, "  "},
		{"GET", "/status", "text/html", 200, "GET /status "},
		{"GET", "/status", "", 405, "allowed: POST"},
		{"OPTIONS", "/shared", "", 204, ""},
		{"BREW", "/any", "", 200, " /any "},
		{"GET", "/members", "member", 200, "GET /members "},
		{"GET", "/members", "", 401, "who is it?"},
		{"PUT", "/members", "", 401, "who is it?"},
		{"PUT", "/members", "member", 405, "allowed: GET, HEAD"},
		{"PUT", "/nowhere", "", 200, "  "},
		{"GET", "//docs", "", 307, `href="/docs"`},
		{"GET", "/x/../docs?q=1", "", 307, `href="/docs?q=1"`},
		{"GET", "/docs//a", "", 307, `href="/docs/a"`},
		{"GET", "/docs/a%2F%2Fb", "", 200, "GET /docs/{path...} a//b"},
		{"POST", "//docs", "", 200, "  "},
		{"GET", "//books/7", "", 200, "  "},
		{"GET", "//evil.example/..//docs", "", 307, `href="/docs"`},
	} {
		w := do(h, tt.method, tt.target, "", "Accept", tt.accept)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s %s: %d %q, want %d %q", tt.method, tt.target, w.Code, w.Body, tt.status, tt.want)
		}
	}
	for _, twice := range []server.Route{row("POST", "/books/batch"), row("GET", "/books/{name}")} {
		if _, err := server.New(server.Config{Routes: append(slices.Clone(cfg.Routes), twice)}); err == nil {
			t.Errorf("%s %s is routed twice", twice.Method, twice.Path)
		}
	}
	if w := do(listen(t, server.Config{}), "GET", "/", ""); w.Code != 404 || !json.Valid(w.Body.Bytes()) {
		t.Errorf("without rows: %d %s", w.Code, w.Body)
	}
}

// broken is a body that ends before its end.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestRefusals holds what a request may be, and that fronts say it in their way.
func TestRefusals(t *testing.T) {
	read := func(r *http.Request) (*server.Answer, error) {
		body, kind, err := server.Body(r, "application/json", "text/csv")
		return &server.Answer{Type: kind, Body: body}, err
	}
	fail := func(err error) func(*http.Request) (*server.Answer, error) {
		return func(*http.Request) (*server.Answer, error) { return nil, err }
	}
	page := func(r *http.Request, err error) *server.Answer {
		f := server.Explain(r.Context(), err)
		return &server.Answer{Status: f.Status, Type: "text/html", Body: []byte("<h1>" + f.Message), Page: &server.Policy{}}
	}
	var log bytes.Buffer
	h := listen(t, server.Config{
		Log: slog.New(slog.NewTextHandler(&log, nil)),
		Check: func(r *http.Request) error {
			if r.Host != "example.com" {
				return &server.Refusal{Status: 403, Message: "not here"}
			}
			return nil
		},
		Routes: []server.Route{
			{Method: "POST", Path: "/body", MaxBody: 2 << 10, Serve: read},
			{Path: "/missing", Serve: fail(op.NotFound("no such tide"))},
			{Path: "/closed", Serve: fail(op.Unavailable(1500*time.Millisecond, "being painted"))},
			{Path: "/late", Serve: fail(context.DeadlineExceeded)},
			{Path: "/lost", Serve: fail(errors.New("sqlite: secret"))},
			{Path: "/panic", Serve: func(*http.Request) (*server.Answer, error) { panic("secret") }},
			{Path: "/page", Serve: fail(op.NotFound("no such tide")), Refuse: page},
			{Path: "/bounded", Serve: read, Refuse: page, Limit: limit.New(limit.Config{Name: "x", Calls: 1})},
		},
	})
	for _, tt := range []struct {
		method, target, kind, body string
		status                     int
		want                       string
	}{
		{"POST", "/body", "application/json", "{}", 200, "{}"},
		{"POST", "/body", "text/csv; charset=utf-8", "a,b", 200, "a,b"},
		{"POST", "/body", "text/plain", "{}", 415, `{"error":"Content-Type must be application/json or text/csv"}`},
		{"POST", "/body", "", "{}", 415, "Content-Type"},
		{"POST", "/body", "text/csv", strings.Repeat("x", 2<<10), 200, "xxx"},
		{"POST", "/body", "text/csv", strings.Repeat("x", 2<<10+1), 413, `{"error":"the body must be at most 2 KiB"}`},
		{"GET", "/missing", "", "", 404, `{"error":"no such tide"}`},
		{"GET", "/closed", "", "", 503, `{"error":"being painted"}`},
		{"GET", "/late", "", "", 504, `{"error":"it took too long`},
		{"GET", "/lost", "", "", 500, `{"error":"internal error"}`},
		{"GET", "/panic", "", "", 500, `{"error":"internal error"}`},
		{"GET", "/missing?" + strings.Repeat("x", server.MaxURL), "", "", 414, `{"error":"the address must be`},
		{"GET", "/page", "", "", 404, "<h1>no such tide"},
		{"GET", "/bounded", "", "", 415, "<h1>Content-Type"},
		{"GET", "/bounded", "", "", 429, "<h1>the limit of 1 calls"},
		{"GET", "http://elsewhere.example/missing", "", "", 403, `{"error":"not here"}`},
		{"HEAD", "/missing", "", "", 404, ""},
		{"GET", "/nowhere", "", "", 404, `{"error":"there is no such page"}`},
	} {
		w := do(h, tt.method, tt.target, tt.body, "Content-Type", tt.kind)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) || strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s %.40s: %d %.100s, want %d %s", tt.method, tt.target, w.Code, w.Body, tt.status, tt.want)
		}
		if wait := w.Header().Get("Retry-After"); w.Code == 503 && wait != "2" || w.Code == 429 && wait == "" {
			t.Errorf("%s: Retry-After %q", tt.target, wait)
		}
	}
	r := httptest.NewRequest("POST", "/body", broken{})
	r.Header.Set("Content-Type", "text/csv")
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 400 || !strings.Contains(w.Body.String(), "could not be read") {
		t.Errorf("a broken body: %d %s", w.Code, w.Body)
	}
	for _, want := range []string{"sqlite: secret", "panic", "server_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}
}

// TestABodyThatIsTooLongEndsTheConnection holds that nobody sends the rest of one.
func TestABodyThatIsTooLongEndsTheConnection(t *testing.T) {
	srv := httptest.NewServer(listen(t, server.Config{Routes: []server.Route{{Path: "/", MaxBody: 1 << 10,
		Serve: func(r *http.Request) (*server.Answer, error) {
			_, _, err := server.Body(r, "text/csv")
			return nil, err
		}}}}))
	defer srv.Close()
	res, err := srv.Client().Post(srv.URL, "text/csv", strings.NewReader(long))
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil || res.StatusCode != 413 || !res.Close {
		t.Errorf("%d, closed %v, %v", res.StatusCode, res.Close, err)
	}
}

// TestWhatIsObserved counts and names answers.
func TestWhatIsObserved(t *testing.T) {
	var seen []string
	ctx, leave := context.WithCancel(t.Context())
	h := listen(t, server.Config{
		Observe: func(method, route string, status int, _ time.Duration) {
			seen = append(seen, fmt.Sprint(method, " ", route, " ", status))
		},
		Routes: []server.Route{
			{Method: "GET", Path: "/books/{id}", Serve: serve(server.Answer{Status: 201})},
			{Path: "", Name: "lost", Serve: serve(server.Answer{Status: 404, Type: "text/html", Body: []byte(long)})},
			{Path: "/left", Serve: func(r *http.Request) (*server.Answer, error) {
				leave()
				return nil, r.Context().Err()
			}},
		},
	})
	do(h, "GET", "/books/7?secret=1", "")
	do(h, "PUT", "/books/7", "")
	do(h, "HEAD", "/nowhere", "")
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/left", nil).WithContext(ctx))
	want := []string{"GET /books/{id} 201", "PUT /books/{id} 405", "HEAD lost 404", "GET /left 499"}
	if !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
}

// TestASpanHasTheNameOfItsRow, and nothing of the address.
func TestASpanHasTheNameOfItsRow(t *testing.T) {
	r := tracetest.NewSpanRecorder()
	traces := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r))
	h := listen(t, server.Config{Routes: []server.Route{{Method: "GET", Path: "/books/{id}",
		Serve: func(*http.Request) (*server.Answer, error) { return nil, errors.New("no ink") }}}})
	ctx, s := traces.Tracer("test").Start(t.Context(), "request")
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/books/of-mira?key=hush", nil)
	h.ServeHTTP(httptest.NewRecorder(), request)
	s.End()
	said := r.Ended()[0]
	if text := fmt.Sprint(said.Name(), said.Attributes()); said.Name() != "GET /books/{id}" ||
		said.Status().Code != codes.Error || strings.Contains(text, "mira") || strings.Contains(text, "hush") {
		t.Errorf("the span says %s, %v", text, said.Status())
	}
}

// TestAPathThatBeginsLikeAHostHasNoPage: a script of such a page could take its path for
// an address elsewhere. What has a page under a plain path leads there.
func TestAPathThatBeginsLikeAHostHasNoPage(t *testing.T) {
	page := serve(server.Answer{Type: "text/html", Body: []byte("<script src=/s>"), Page: &server.Policy{}})
	missing := func(*http.Request) (*server.Answer, error) { return nil, op.NotFound("gone") }
	h := listen(t, server.Config{Routes: []server.Route{
		{Method: "GET", Path: "/", Serve: page, Page: true}, {Method: "GET", Path: "/page", Serve: page, Page: true},
		{Method: "GET", Path: "/data", Serve: page},
		{Serve: missing, Refuse: func(r *http.Request, _ error) *server.Answer { a, _ := page(r); return a }},
	}})
	for path, to := range map[string]string{
		"//page": "/page", "//": "/", "///": "/", "//evil.example/../page": "/page", "//page/": "/page",
		"//data": "", "//evil.example/x": "", "///evil.example": "", "//evil.example:80/x/": "", `/\evil.example`: "",
		`/\/evil.example`: "", "//evil.example//x": "",
	} {
		r := httptest.NewRequest("GET", "/?cursor=1", http.NoBody)
		r.URL.Path = path
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if to != "" && (w.Code != http.StatusTemporaryRedirect || w.Header().Get("Location") != to+"?cursor=1") ||
			to == "" && (w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != server.JSONType) {
			t.Errorf("%s: %d %v %.80s, want %q", path, w.Code, w.Header(), w.Body, to)
		}
	}
}
