package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/api/limit"
	"almanac/api/server"
	"almanac/api/tally"
	"almanac/catalog"
)

// handler is a listener with one route.
func handler(t *testing.T, rt server.Route) http.Handler {
	t.Helper()
	h, err := server.New(server.Config{Routes: []server.Route{rt}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// reports as browsers send them.
const (
	chromium = `[{"age":12,"body":{"blockedURL":"https://cdn.example/lib.js?user=alice#x","columnNumber":7,
"disposition":"enforce","documentURL":"https://kb.example/status?token=1","effectiveDirective":"script-src-elem",
"originalPolicy":"default-src 'none'","referrer":"","sample":"","statusCode":200},"type":"csp-violation",
"url":"https://kb.example/status?token=1","user_agent":"Mozilla/5.0"},
{"age":1,"body":{"id":"x"},"type":"deprecation","url":"https://kb.example/"},
{"age":1,"body":{"blockedURL":"inline","effectiveDirective":"style-src-attr"},"type":"csp-violation"}]`
	firefox = `{"csp-report":{"blocked-uri":"inline","column-number":1,"disposition":"enforce",
"document-uri":"https://kb.example/?q=secret","effective-directive":"style-src-elem","original-policy":"x","referrer":"",
"status-code":200,"violated-directive":"style-src-elem"}}`
	older = `{"csp-report":{"document-uri":"https://kb.example/","violated-directive":"img-src 'self'","blocked-uri":"data"}}`
)

func TestParse(t *testing.T) {
	for body, want := range map[string][]server.Violation{
		chromium: {{"script-src-elem", "https://cdn.example"},
			{"style-src-attr", "inline"}},
		firefox:                              {{"style-src-elem", "inline"}},
		older:                                {{"img-src", "data"}},
		`[{"type":"deprecation","body":{}}]`: nil,
	} {
		mediaType := server.SingleReport
		if body[0] == '[' {
			mediaType = server.BatchOfReports
		}
		got, err := server.ParseViolations(mediaType, []byte(body))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%.40s: %v (-want +got):\n%s", body, err, diff)
		}
	}
	for body, mediaType := range map[string]string{
		"": server.SingleReport, "null": server.SingleReport, "{}": server.SingleReport, "[]": server.BatchOfReports, "7": server.BatchOfReports, firefox: server.BatchOfReports,
		chromium:            server.SingleReport,
		`{"csp-report":{}}`: server.SingleReport, `{"csp-report":7}`: server.SingleReport, `[{}]`: server.BatchOfReports,
		`[{"type":"csp-violation"}]`: server.BatchOfReports,
		`{"csp-report":{"effective-directive":"alice@example.org","blocked-uri":"inline"}}`:               server.SingleReport,
		`[{"type":"csp-violation","body":{"effectiveDirective":"nothing-src","blockedURL":"inline"}}]`:    server.BatchOfReports,
		`[{"type":"csp-violation","body":{"effectiveDirective":["img-src"],"blockedURL":"inline"}}] more`: server.BatchOfReports,
	} {
		if got, err := server.ParseViolations(mediaType, []byte(body)); err == nil {
			t.Errorf("%s: %v", body, got)
		}
	}
	many := "[" + strings.Repeat(
		`{"type":"csp-violation","body":{"effectiveDirective":"img-src","blockedURL":"data"}},`, 150)
	if got, err := server.ParseViolations(server.BatchOfReports, []byte(strings.TrimSuffix(many, ",")+"]")); err != nil || len(got) != 100 {
		t.Errorf("%d reports of 150: %v", len(got), err)
	}
}

func TestCut(t *testing.T) {
	for blocked, want := range map[string]string{
		"inline": "inline", "EVAL": "eval", "data": "data", "data:image/png;base64,AAAA": "data",
		"blob:https://kb.example/1": "blob",
		"":                          "unknown", "self": "self", "wasm-eval": "wasm-eval", "nonsense": "other",
		"%zz": "other", "//cdn.example/x": "other",
		"https://cdn.example": "https://cdn.example", "https://cdn.example/": "https://cdn.example",
		"https://CDN.example:8443/a/b.js?x=1#y":    "https://cdn.example:8443",
		"https://user:pass@cdn.example/a":          "https://cdn.example",
		"https://xn--mnchen-3ya.example/a":         "https://xn--mnchen-3ya.example",
		"http://192.0.2.7/x":                       "http://ip-address",
		"http://[2001:db8::7]:80/x":                "http://ip-address",
		"http://127.0.0.1:8080/x":                  "http://localhost",
		"http://localhost:3000/x":                  "http://localhost",
		"wss://live.example/feed":                  "wss://live.example",
		"chrome-extension://abcdefghijklmnop/x.js": "chrome-extension",
		"https://cdn.example/u/alice@example.org":  "https://cdn.example",
		// What is no name of a host is a stranger's text.
		"visit-shells.example:now":                        "other",
		"javascript:alert(1)":                             "other",
		"https://shells\u202e.example/x":                  "https",
		"https://buy%20cheap%20shells.example/x":          "other",
		"https://müscheln.example/x":                      "https",
		"https://buy_shells.example":                      "https",
		"https://shells/x":                                "https",
		"https://k3j9x2m4p8q1z7w5v6n0.example/x":          "https",
		"https://" + strings.Repeat("a.", 50) + "example": "https",
	} {
		if got := server.CutBlocked(blocked); got != want {
			t.Errorf("%q is %q, want %q", blocked, got, want)
		}
	}
}

func TestHandler(t *testing.T) {
	h := handler(t, server.Violations(nil, nil))
	for _, tt := range []struct {
		method, kind, body string
		status             int
		says               string
	}{
		{"POST", server.BatchOfReports, chromium, 204, ""},
		{"POST", server.SingleReport + "; charset=utf-8", firefox, 204, ""},
		{"POST", server.SingleReport, "rubbish", 400, "is not a report"},
		{"POST", "application/json", firefox, 415,
			"Content-Type must be application/csp-report or application/reports+json"},
		{"POST", "", firefox, 415, "Content-Type"},
		{"POST", server.SingleReport, strings.Repeat(" ", 65<<10), 413, "64 KiB"},
		{"GET", server.SingleReport, "", 405, "GET is not allowed"},
	} {
		r := httptest.NewRequest(tt.method, "/csp-reports", strings.NewReader(tt.body))
		r.Header.Set("Content-Type", tt.kind)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) ||
			tt.status >= 400 && !strings.HasPrefix(w.Body.String(), `{"error":"`) {
			t.Errorf("%s %s %.20s: %d %s, want %d", tt.method, tt.kind, tt.body, w.Code, w.Body, tt.status)
		}
	}
}

// TestEveryReportCounts holds that a batch takes as many calls as it has reports, and
// that none beyond the limit are counted.
func TestEveryReportCounts(t *testing.T) {
	s := &shelf{}
	counts := tally.New(s, time.Now, slog.New(slog.DiscardHandler))
	h := handler(t, server.Violations(counts, limit.New(limit.Config{Name: "csp", Calls: 30})))
	batch := "[" + strings.TrimSuffix(strings.Repeat(
		`{"type":"csp-violation","body":{"effectiveDirective":"img-src","blockedURL":"data"}},`, 20), ",") + "]"
	var codes []int
	for range 3 {
		r := httptest.NewRequest("POST", "/csp-reports", strings.NewReader(batch))
		r.Header.Set("Content-Type", server.BatchOfReports)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		codes = append(codes, w.Code)
	}
	if err := counts.Close(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(codes, []int{204, 429, 429}) || s.violations != 30 {
		t.Errorf("answered with %v, %d reports are counted", codes, s.violations)
	}
}

// shelf adds up violations and keeps clicks.
type shelf struct {
	violations int
	clicks     []catalog.ClickCount
}

func (*shelf) CountSearches(context.Context, []catalog.SearchCount) error { return nil }
func (s *shelf) CountClicks(_ context.Context, counts []catalog.ClickCount) error {
	s.clicks = append(s.clicks, counts...)
	return nil
}
func (s *shelf) CountViolations(_ context.Context, counts []catalog.Violation) error {
	for _, v := range counts {
		s.violations += v.N
	}
	return nil
}

func FuzzParse(f *testing.F) {
	for _, body := range []string{chromium, firefox, older,
		`[{"type":"csp-violation","body":{"effectiveDirective":"img-src"}}]`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, mediaType := range []string{server.SingleReport, server.BatchOfReports} {
			all, err := server.ParseViolations(mediaType, body)
			if err != nil && len(all) > 0 {
				t.Errorf("%v and %v", all, err)
			}
			for _, v := range all {
				if strings.Trim(v.Blocked, "abcdefghijklmnopqrstuvwxyz0123456789-.:/") != "" || len(v.Directive) > 30 ||
					len(v.Blocked) > 120 {
					t.Errorf("%q", v)
				}
			}
		}
	})
}
