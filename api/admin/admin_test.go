package admin_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"almanac/api/admin"
	"almanac/api/server"
)

func get(h http.Handler, host, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.Host = host
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestAdmin(t *testing.T) {
	m := admin.NewMetrics()
	m.ObserveRequest("GET", "/api/v1/books", 200, 3*time.Millisecond)
	m.ObserveRequest("BREW", "", 404, time.Millisecond)
	m.ObserveTool("list_books", "error", time.Second)
	page := func(*http.Request) (*server.Answer, error) {
		return &server.Answer{Type: "text/plain", Body: []byte("numbers")}, nil
	}
	h, err := admin.New(admin.Config{Metrics: m, Loopback: true,
		Routes: []server.Route{{Path: "/relevance/{name...}", Serve: page}, {Path: "/relevance", Serve: page}}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, host, path string
		status           int
		want, not        string
	}{
		{"requests are counted by route", "localhost", "/metrics", 200,
			`almanac_http_requests_total{method="GET",route="/api/v1/books",status="200"} 1`, ""},
		{"a strange method makes no series", "localhost", "/metrics", 200, `method="other"`, "BREW"},
		{"tool calls are counted", "localhost", "/metrics", 200,
			`almanac_tool_calls_total{outcome="error",tool="list_books"} 1`, ""},
		{"the runtime is measured", "localhost", "/metrics", 200, "go_goroutines", ""},
		{"profiles are served", "localhost", "/debug/pprof/", 200, "goroutine", ""},
		{"pages are served", "localhost", "/relevance/x", 200, "numbers", ""},
		{"so are they by its port", "localhost:8081", "/relevance/", 200, "numbers", ""},
		{"anything else is not there", "localhost", "/nowhere", 404, `{"error":`, ""},
		{"a rebound name is refused", "evil.example", "/relevance/", 403, `{"error":`, "numbers"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := get(h, tt.host, tt.path)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) || tt.not != "" &&
				strings.Contains(w.Body.String(), tt.not) {
				t.Errorf("got %d %.300s", w.Code, w.Body)
			}
		})
	}
}

func TestAForgedFormIsRefused(t *testing.T) {
	changed := false
	h, err := admin.New(admin.Config{Loopback: true,
		Routes: []server.Route{{Path: "/reindex", Serve: func(*http.Request) (*server.Answer, error) {
			changed = true
			return &server.Answer{}, nil
		}}}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("POST", "http://localhost/reindex", nil)
	r.Header.Set("Origin", "https://evil.example")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != 403 || changed || !strings.HasPrefix(w.Body.String(), `{"error":`) {
		t.Errorf("got %d %s, changed %v", w.Code, w.Body, changed)
	}
}

func TestToken(t *testing.T) {
	if _, err := admin.New(admin.Config{}); err == nil {
		t.Error("a public listener without a token is served")
	}
	h, err := admin.New(admin.Config{Token: "s3cret"})
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]int{"": 401, "Bearer s3cret": 200, "bearer s3cret": 200, "Bearer s3cre": 401,
		"Bearer ": 401, "Basic s3cret": 401, "s3cret": 401} {
		w := get(h, "admin.example", "/metrics", "Authorization", header)
		if w.Code != want {
			t.Errorf("%q: %d, want %d", header, w.Code, want)
		}
		if w.Code == 401 && w.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%q: no WWW-Authenticate", header)
		}
	}
}
