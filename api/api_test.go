package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"
	"go.opentelemetry.io/otel"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"

	"almanac/api"
	"almanac/api/mcp"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/api/server"
	"almanac/api/web"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/testing/optest"
	"almanac/testing/postgrestest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(postgrestest.M{M: m})
}

func assemble(t *testing.T, change func(*api.Config)) *api.Handlers {
	t.Helper()
	cfg := api.Config{
		Program: meta.Program{Serving: op.Serving{Operations: optest.Operations(), Timeout: time.Minute}, Version: "test"},
		Site:    web.Site{Name: "Shelf"}, PublicURL: "https://kb.example/", AdminLoopback: true,
		LimitStore: memory.NewStoreWithOptions(limiter.StoreOptions{}),
		Offer: mcp.Offer{Resources: []op.Resource{{URI: "kb://motd", Name: "motd",
			Read: func(context.Context) (any, error) { return "hello", nil }}}},
	}
	if change != nil {
		change(&cfg)
	}
	h, err := api.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func do(h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func call(t testing.TB, h http.Handler, tool, args string) (answer string, isError bool) {
	t.Helper()
	w := do(h, "POST", "/mcp?toolsets=all",
		fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, args))
	var m struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || len(m.Result.Content) != 1 {
		t.Fatalf("%s: %v %s", tool, err, w.Body)
	}
	return m.Result.Content[0].Text, m.Result.IsError
}

func TestPublic(t *testing.T) {
	tests := []struct {
		name, method, target string
		status               int
		kind, want           string
	}{
		{"health counts the tools", "GET", "/health", 200, "application/json",
			`{"status":"ok","ready":true,"progress":1,"down":[],"tools":8,"version":"test"`},
		{"ready", "GET", "/ready", 200, "application/json", `{"status":"ready","down":[]}`},
		{"a final slash makes no difference", "GET", "/api/v1/books/7/", 200, "application/json", `"id":"0007"`},
		{"the description is served", "GET", "/api/v1/openapi.json", 200, "application/json",
			`{"openapi":"3.1.0","info":{"title":"Shelf knowledge base","version":"1.0.0"`},
		{"a page is served", "GET", "/robots.txt", 200, "text/plain", "User-agent"},
		{"a page has its methods", "POST", "/robots.txt", 405, "application/json", "allowed: GET, HEAD"},
		{"an odd path leads to its page", "GET", "//x/../robots.txt", 307, "text/html", `href="/robots.txt"`},
		{"an unknown address is JSON", "GET", "/nowhere", 404, "application/json", `{"error":`},
		{"an unknown address of the API too", "GET", "/api/v1/nowhere", 404, "application/json", `{"error":`},
		{"an odd path too", "GET", "/api//v1/../books", 404, "application/json", `{"error":`},
		{"a wrong method is JSON", "POST", "/api/v1/books", 405, "application/json", `{"error":`},
		{"so is one on the tools", "GET", "/mcp", 405, "application/json", `{"error":`},
	}
	h := assemble(t, nil).Public
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := do(h, tt.method, tt.target, "")
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) ||
				!strings.HasPrefix(w.Header().Get("Content-Type"), tt.kind) {
				t.Errorf("got %d %s %.500s", w.Code, w.Header().Get("Content-Type"), w.Body)
			}
		})
	}
}

func TestBeforeTheIndexIsReady(t *testing.T) {
	h := assemble(t, func(c *api.Config) { c.Ready = func() (bool, float64) { return false, 0.5 } }).Public
	if w := do(h, "GET", "/health", ""); w.Code != 200 ||
		!strings.Contains(w.Body.String(), `"status":"loading","ready":false,"progress":0.5,"down":[],"tools":8`) {
		t.Errorf("health: %d %s", w.Code, w.Body)
	}
	for _, target := range []string{"/ready", "/api/v1/books"} {
		if w := do(h, "GET", target, ""); w.Code != 503 || w.Body.String() != `{"error":"loading, 50 %"}` ||
			w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	if got, isError := call(t, h, "list_books", `{}`); !isError || !strings.Contains(got, "loading, 50 %") {
		t.Errorf("tool: %s", got)
	}
}

// TestWhatIsDownIsSaid holds that a part that does not answer is named, and is
// no reason to send clients elsewhere. What it said is for the operator.
func TestWhatIsDownIsSaid(t *testing.T) {
	down := func(c *api.Config) {
		c.Down = func() []retrieval.Down {
			return []retrieval.Down{
				{Engine: "keyword", Reason: "no route to 10.0.0.7:7700"},
				{Engine: "vector", Reason: "it is filled at 10.0.0.8", ToCome: 7},
			}
		}
		c.AdminLoopback = true
	}
	all := assemble(t, down)
	if w := do(all.Admin, "GET", "http://localhost/engines", ""); w.Code != 200 ||
		!strings.Contains(w.Body.String(), "no route to 10.0.0.7:7700") {
		t.Errorf("the operator is not told why: %d %s", w.Code, w.Body)
	}
	h := all.Public
	for target, want := range map[string]string{
		"/ready": `{"status":"ready","down":["keyword does not answer","vector is being filled; 7 changes are to come"]}`, "/health": `"status":"degraded","ready":true`} {
		if w := do(h, "GET", target, ""); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	h = assemble(t, func(c *api.Config) { down(c); c.Ready = func() (bool, float64) { return false, 0 } }).Public
	if w := do(h, "GET", "/ready", ""); w.Code != 503 ||
		w.Body.String() != `{"error":"loading, 0 %: keyword does not answer; vector is being filled; 7 changes are to come"}` {
		t.Errorf("/ready while loading: %d %s", w.Code, w.Body)
	}
}

// TestUnreadyWhileTheCatalogIsAway names it as long as it is away; that the process lives stays
// true, and what it said is for the operator.
func TestUnreadyWhileTheCatalogIsAway(t *testing.T) {
	var away error
	all := assemble(t, func(c *api.Config) {
		c.Catalog = func(context.Context) error { return away }
		c.AdminLoopback = true
	})
	for want, err := range map[string]error{
		"catalog does not answer": fmt.Errorf("10.0.0.7 refused: %w", catalog.ErrUnreachable),
		"catalog is damaged":      fmt.Errorf("/data/catalog.db: %w", catalog.ErrDamaged),
		"catalog cannot be read":  errors.New("disk I/O error"),
	} {
		away = err
		if w := do(all.Public, "GET", "/ready", ""); w.Code != 503 || w.Body.String() != `{"error":"`+want+`"}` ||
			w.Header().Get("Retry-After") == "" {
			t.Errorf("/ready: %d %s", w.Code, w.Body)
		}
		if w := do(all.Public, "GET", "/health", ""); w.Code != 200 ||
			!strings.Contains(w.Body.String(), `"status":"degraded"`) || !strings.Contains(w.Body.String(), `["`+want+`"]`) {
			t.Errorf("/health: %d %s", w.Code, w.Body)
		}
		if w := do(all.Admin, "GET", "http://localhost/engines", ""); !strings.Contains(w.Body.String(), err.Error()) {
			t.Errorf("the operator is not told why: %s", w.Body)
		}
	}
	away = nil
	if w := do(all.Public, "GET", "/ready", ""); w.Code != 200 {
		t.Errorf("afterwards: %d %s", w.Code, w.Body)
	}
}

// TestLocalCallsAreFree where the operator says so; what a proxy on this machine passes
// on is counted as ever.
func TestLocalCallsAreFree(t *testing.T) {
	for _, free := range []bool{false, true} {
		h := assemble(t, func(c *api.Config) { c.Limits, c.LocalFree = api.Limits{REST: 1, MCP: 1, Web: 1}, free }).Public
		call := func(target, forwarded string) int {
			r := httptest.NewRequest("GET", target, nil)
			r.RemoteAddr, r.Host = "127.0.0.1:5000", "localhost"
			if forwarded != "" {
				r.Header.Set("X-Forwarded-For", forwarded)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w.Code
		}
		for _, target := range []string{"/api/v1/books", "/robots.txt"} {
			call(target, "")
			if got := call(target, ""); (got == 429) == free {
				t.Errorf("free %v: the second call of %s gives %d", free, target, got)
			}
			call(target, "192.0.2.7")
			if got := call(target, "192.0.2.7"); got != 429 {
				t.Errorf("free %v: the second call of %s by a proxy gives %d", free, target, got)
			}
		}
	}
}

// TestUnreadyWhileTheIndexIsFarBehind: balancers send questions to others meanwhile.
func TestUnreadyWhileTheIndexIsFarBehind(t *testing.T) {
	var behind time.Duration
	h := assemble(t, func(c *api.Config) { c.Behind = func() time.Duration { return behind } }).Public
	for late, want := range map[time.Duration]int{0: 200, time.Minute: 200, 61 * time.Second: 503} {
		behind = late
		if w := do(h, "GET", "/ready", ""); w.Code != want ||
			want == 503 && !strings.Contains(w.Body.String(), "the index is 1m1s behind the catalog") {
			t.Errorf("%v behind: %d %s", late, w.Code, w.Body)
		}
	}
}

func TestTheBucketsAreApart(t *testing.T) {
	h := assemble(t, func(c *api.Config) { c.Limits = api.Limits{REST: 1, MCP: 2, Web: 1} }).Public
	ping, list := `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	steps := []struct {
		method, target, body string
		status               int
	}{
		{"GET", "/api/v1/openapi.json", "", 200},
		{"GET", "/api/v1/books", "", 429},
		{"POST", "/mcp", list, 200},
		{"POST", "/mcp", "rubbish", 400},
		{"POST", "/mcp", list, 429},
		{"POST", "/mcp", ping, 200},
		{"GET", "/robots.txt", "", 200},
		{"GET", "/robots.txt", "", 429},
		{"GET", "/static/x", "", 404},
		{"GET", "/health", "", 200},
		{"GET", "/ready", "", 200},
	}
	for i, s := range steps {
		w := do(h, s.method, s.target, s.body)
		if w.Code != s.status {
			t.Errorf("step %d, %s %s: %d, want %d", i, s.method, s.target, w.Code, s.status)
		}
		if w.Code == 429 && (w.Header().Get("Retry-After") == "" ||
			!strings.Contains(w.Body.String(), "try again in ")) {
			t.Errorf("step %d: %v %s", i, w.Header(), w.Body)
		}
	}
}

func TestALoopbackListenerChecksTheHost(t *testing.T) {
	h := assemble(t, func(c *api.Config) { c.Loopback = true }).Public
	for host, want := range map[string]int{"localhost:8080": 200, "KB.example.:80": 200, "evil.example": 403,
		"localhost.evil.example": 403} {
		ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		for path, body := range map[string]string{"/health": "", "/mcp": ping} {
			method := http.MethodGet
			if body != "" {
				method = http.MethodPost
			}
			if w := do(h, method, "http://"+host+path, body); w.Code != want || !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s%s: %d, want %d", host, path, w.Code, want)
			}
		}
	}
}

func TestMetricsSeeWhatThePublicAsks(t *testing.T) {
	h := assemble(t, nil)
	do(h.Public, "GET", "/api/v1/books/56?secret=1", "")
	do(h.Public, "GET", "/random/address", "")
	do(h.Public, "GET", "/robots.txt", "")
	call(t, h.Public, "about", `{}`)
	got := do(h.Admin, "GET", "http://localhost/metrics", "").Body.String()
	for _, want := range []string{
		`almanac_http_requests_total{method="GET",route="/api/v1/books/{id}",status="200"} 1`,
		`almanac_http_requests_total{method="GET",route="unmatched",status="404"} 1`,
		`almanac_http_requests_total{method="GET",route="/robots.txt",status="200"} 1`,
		`almanac_http_requests_total{method="POST",route="/mcp",status="200"} 1`,
		`almanac_tool_calls_total{outcome="ok",tool="about"} 1`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(got, "random") || strings.Contains(got, "secret") {
		t.Error("what clients send is in the series")
	}
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*api.Config){
		"an address that is none":       func(c *api.Config) { c.PublicURL = "kb.example" },
		"a proxy that is none":          func(c *api.Config) { c.TrustedProxies = []string{"proxy"} },
		"an open admin without a token": func(c *api.Config) { c.AdminLoopback = false },
		"one operation twice":           func(c *api.Config) { c.Operations = append(c.Operations, c.Operations[0]) },
		"no version":                    func(c *api.Config) { c.Version = "" },
	} {
		cfg := api.Config{AdminLoopback: true,
			Program:    meta.Program{Serving: op.Serving{Operations: optest.Operations()}, Version: "1"},
			LimitStore: memory.NewStoreWithOptions(limiter.StoreOptions{})}
		change(&cfg)
		if _, err := api.New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestWhichPagesMayRead holds which pages of other origins a browser lets read: any where
// the service is published by its configuration and has no folder of somebody's own, else
// those that are allowed, and those of this machine.
func TestWhichPagesMayRead(t *testing.T) {
	const evil, own, friend = "https://evil.example", "http://localhost:3000", "https://app.example"
	local := server.Reach{Listen: "127.0.0.1:8080", PublicURL: "http://localhost:9000"}
	folder := server.Reach{Listen: "192.0.2.1:8080", Folder: true}
	known := server.Reach{Listen: "127.0.0.1:8080", PublicURL: "https://kb.example"}
	proxied := server.Reach{Listen: "localhost:8080", Proxies: []string{"::1"}}
	for name, tt := range map[string]struct {
		reach    server.Reach
		loopback bool
		allowed  string
		origin   string
		want     string // Access-Control-Allow-Origin
	}{
		"on loopback a foreign page":       {local, true, "", evil, ""},
		"a page of this machine":           {local, true, "", own, own},
		"an allowed page":                  {local, true, friend, friend, friend},
		"a foreign page beside it":         {local, true, friend, evil, ""},
		"all pages where all are allowed":  {local, true, "*", evil, "*"},
		"no page":                          {local, true, friend, "", ""},
		"a folder":                         {server.Reach{Listen: "[::1]:8080", Folder: true}, true, "", evil, ""},
		"a folder on an open listener":     {folder, false, "", evil, ""},
		"pages of the reader's machine":    {folder, false, "", own, ""},
		"an allowed page of it":            {folder, false, friend, friend, friend},
		"a listener that others reach":     {server.Reach{Listen: "192.0.2.1:8080"}, false, "", evil, "*"},
		"a listener on all addresses":      {server.Reach{Listen: ":8080"}, false, "", evil, "*"},
		"a trusted proxy":                  {proxied, true, "", evil, "*"},
		"an address that others know":      {known, true, "", evil, "*"},
		"without an origin it is the same": {server.Reach{Listen: "192.0.2.1:8080"}, false, "", "", "*"},
	} {
		h := assemble(t, func(c *api.Config) {
			c.Audience = server.NewAudience(tt.reach, nil, c.Log)
			c.PublicURL, c.Loopback, c.Limits.REST = tt.reach.PublicURL, tt.loopback, 4
			if tt.allowed != "" {
				c.AllowedOrigins = []string{tt.allowed}
			}
		}).Public
		for _, x := range []struct {
			method, target string
			status         int
		}{
			{"OPTIONS", "/api/v1/books", 204}, {"GET", "/api/v1/books", 200}, {"GET", "/api/v1/openapi.json", 200},
			{"GET", "/nowhere", 404}, {"GET", "/api/v1/books/x", 400}, {"GET", "/api/v1/books", 429},
		} {
			r := httptest.NewRequest(x.method, "http://localhost"+x.target, nil)
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			varies := slices.Contains(w.Header().Values("Vary"), "Origin") ||
				slices.Contains(strings.Split(w.Header().Get("Vary"), ", "), "Origin")
			if got := w.Header().Get("Access-Control-Allow-Origin"); w.Code != x.status || got != tt.want ||
				(w.Header().Get("Access-Control-Expose-Headers") != "") != (tt.want != "") || varies == (tt.want == "*") {
				t.Errorf("%s: %s %s: %d %v, want %d %q", name, x.method, x.target, w.Code, w.Header(), x.status, tt.want)
			}
		}
	}
}

// TestClicksAreTakenWhereTheyAreCounted and are no address elsewhere.
func TestClicksAreTakenWhereTheyAreCounted(t *testing.T) {
	for counts, want := range map[bool]int{true: http.StatusBadRequest, false: http.StatusNotFound} {
		h := assemble(t, func(c *api.Config) { c.Clicks = counts })
		if w := do(h.Public, "POST", server.ClicksPath, `{"query":"tide"}`); w.Code != want {
			t.Errorf("counted: %v: a report without results has status %d, want %d", counts, w.Code, want)
		}
	}
}

func TestAServerCutsHugeHeaders(t *testing.T) {
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = api.NewServer(assemble(t, nil).Public, time.Minute, slog.New(slog.DiscardHandler))
	srv.Start()
	defer srv.Close()
	r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/health", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Huge", strings.Repeat("x", 256<<10))
	resp, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("got %d %v", resp.StatusCode, err)
	}
}

// TestARequestHasAnID: every answer has one, that of an internal error names it,
// and only a trusted proxy may choose it.
func TestARequestHasAnID(t *testing.T) {
	trust := func(c *api.Config) { c.TrustedProxies = []string{"192.0.2.1"} } // the address of httptest's requests
	h := assemble(t, trust).Public
	seen := map[string]bool{}
	for _, given := range []string{"", "", "not valid\x7f", strings.Repeat("x", 65), "from-the-proxy_1"} {
		r := httptest.NewRequest("GET", "/api/v1/lose", nil)
		r.Header.Set("X-Request-Id", given)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		id := w.Header().Get("X-Request-Id")
		if id == "" || seen[id] || (id == given) != (given == "from-the-proxy_1") {
			t.Errorf("%q: the id is %q", given, id)
		}
		if w.Code != 500 || !strings.Contains(w.Body.String(), "under request "+id) {
			t.Errorf("%d %s, without %s", w.Code, w.Body, id)
		}
		seen[id] = true
	}
	r := httptest.NewRequest("GET", "/health", nil)
	r.RemoteAddr = "198.51.100.7:1"
	r.Header.Set("X-Request-Id", "mine")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if id := w.Header().Get("X-Request-Id"); id == "mine" || id == "" {
		t.Errorf("a stranger's id: %q", id)
	}
}

// TestATraceIsContinued for a proxy that is trusted: a stranger does not decide what is recorded.
func TestATraceIsContinued(t *testing.T) {
	r := tracetest.NewSpanRecorder()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r)))
	t.Cleanup(func() { otel.SetTracerProvider(noop.NewTracerProvider()) })
	h := assemble(t, func(c *api.Config) { c.TrustedProxies = []string{"192.0.2.1"} }).Public
	const sent = "0af7651916cd43dd8448eb211c80319c"
	for from, continued := range map[string]bool{"192.0.2.1:1": true, "198.51.100.7:1": false} {
		r.Reset()
		request := httptest.NewRequest("GET", "/health", nil)
		request.RemoteAddr = from
		request.Header.Set("Traceparent", "00-"+sent+"-b7ad6b7169203331-01")
		h.ServeHTTP(httptest.NewRecorder(), request)
		s := r.Ended()[0]
		if got := s.SpanContext().TraceID().String() == sent; got != continued || len(s.Links()) > 0 == continued {
			t.Errorf("%s: %s is of the trace %s and has the links %v", from, s.Name(), s.SpanContext().TraceID(), s.Links())
		}
	}
}
