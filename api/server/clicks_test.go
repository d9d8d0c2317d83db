package server_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"almanac/api/limit"
	"almanac/api/server"
	"almanac/api/tally"
)

func TestClicks(t *testing.T) {
	const good = `{"query":"tide table","shown":[1000007,1000008],"clicked":2}`
	for _, tt := range []struct {
		name, method, kind, origin, body string
		status                           int
	}{
		{"a report", "POST", "application/json", "", good, 204},
		{"one of this page", "POST", "application/json", "http://kb.example", good, 204},
		{"nothing opened", "POST", "application/json", "", `{"query":"a","shown":[1]}`, 204},
		{"another origin", "POST", "application/json", "https://evil.example", good, 403},
		{"by GET", "GET", "", "", "", 405},
		{"as a form", "POST", "text/plain", "", good, 415},
		{"no JSON", "POST", "application/json", "", `{`, 400},
		{"no query", "POST", "application/json", "", `{"shown":[1]}`, 400},
		{"nothing shown", "POST", "application/json", "", `{"query":"a"}`, 400},
		{"shown twice", "POST", "application/json", "", `{"query":"a","shown":[1,1]}`, 400},
		{"no id", "POST", "application/json", "", `{"query":"a","shown":[0]}`, 400},
		{"opened what was not shown", "POST", "application/json", "", `{"query":"a","shown":[1],"clicked":2}`, 400},
		{"too many", "POST", "application/json", "", `{"query":"a","shown":[` + strings.Repeat("1,", 20) + `2]}`, 400},
		{"too long", "POST", "application/json", "", strings.Repeat(" ", 9000) + good, 413},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &shelf{}
			counts := tally.New(s, time.Now, slog.New(slog.DiscardHandler))
			h := handler(t, server.Clicks(counts, limit.New(limit.Config{Name: "web", Store: limit.NewStore()})))
			r := httptest.NewRequest(tt.method, "http://kb.example"+server.ClicksPath, strings.NewReader(tt.body))
			r.Header.Set("Content-Type", tt.kind)
			if tt.origin != "" {
				r.Header.Set("Origin", tt.origin)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if err := counts.Close(); err != nil {
				t.Fatal(err)
			}
			if w.Code != tt.status || (len(s.clicks) > 0) != (tt.status == http.StatusNoContent) {
				t.Errorf("%d %s, want %d; counted %v", w.Code, w.Body, tt.status, s.clicks)
			}
			if w.Header().Get("Set-Cookie") != "" {
				t.Error("a cookie is set")
			}
		})
	}
}

// FuzzClicks reads any body; what it accepts is a place in what was shown.
func FuzzClicks(f *testing.F) {
	f.Add([]byte(`{"query":"a","shown":[1,2],"clicked":1}`))
	f.Add([]byte(`{"query":"a","shown":[1e400]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := server.ParseClicks(body)
		if err == nil && (r.Clicked > len(r.Shown) || len(r.Shown) > server.ClicksDepth || r.Query == "") {
			t.Errorf("%+v", r)
		}
	})
}
