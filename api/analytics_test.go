package api_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
)

func analyticsQuestions() []question {
	return []question{
		{name: "what is searched for", target: "/api/v1/searches/popular?window=1",
			want: fields{"window_days": 1, "limit": 20}},
		{name: "too long a window", target: "/api/v1/searches/popular?window=91", status: 400,
			message: "window must be between 1 and 90"},
		{name: "what is not found", target: "/api/v1/searches/zero?limit=100",
			want: fields{"window_days": 7, "limit": 100}},
		{name: "too many queries", target: "/api/v1/searches/zero?limit=101", status: 400,
			message: "limit must be between 1 and 100"},
		{name: "what was blocked", target: "/api/v1/csp-violations", want: fields{
			"total": 0, "items.#": 0, "limit": 5, "hint": "no browser reported a violation in these days"}},
		{name: "too many addresses", target: "/api/v1/csp-violations?limit=26", status: 400,
			message: "limit must be between 1 and 25"},
	}
}

// counted makes a knowledge base of two documents whose clock can be moved.
func counted(t *testing.T) (l *library, clock *time.Time) {
	t.Helper()
	moment := now
	clock = &moment
	n := network.Network{Name: "tidewater", Title: "Tidewater", Proposals: tidewater}
	l = serve(t, n, func() time.Time { return *clock }, func(store catalog.Store) {
		var entries []catalog.Entry
		for _, title := range []string{"Berths of the harbour", "Lights of the harbour"} {
			entries = append(entries, catalog.Entry{Record: catalog.Record{
				Kind: catalog.KindDoc, Key: title, Title: title, Body: title + " and what they cost."}})
		}
		if _, err := store.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: entries}); err != nil {
			t.Fatal(err)
		}
	})
	return l.ready(t), clock
}

// TestSearchesAreCounted asks as people and programs do and reads the counts.
func TestSearchesAreCounted(t *testing.T) {
	l, clock := counted(t)
	search := func(query string) { do(l.public, "GET", "/api/v1/search?q="+query, "") }
	for _, query := range []string{"Berths", "berths", "BERTHS+", "unicorn", "Unicorn", "lights"} {
		search(query)
	}
	search("berths&offset=1")             // a further page
	search("berths&limit=0")              // refused
	search("")                            // too
	search("alice@example.org")           // private
	search("password%3Dhunter2")          // too
	search("AKIA" + "IOSFODNN7EXAMPLE")   // too
	search("call+%2B49+30+901820+berths") // too
	call(t, l.public, "search", `{"query":"berths"}`)
	call(t, l.public, "semantic_search", `{"query":"berths","source_types":["doc"]}`)
	call(t, l.public, "semantic_search", `{"query":"unicorn"}`)
	call(t, l.public, "search_community", `{"query":"berths"}`) // another tool
	do(l.public, "GET", "/health", "")
	l.ask(t, question{target: "/api/v1/searches/popular", want: fields{
		"items.*.query": "berths,unicorn,lights", "items.*.count": "5,3,1", "items.*.zero_count": "0,3,0", "total": 3,
		"items.0.last_searched": "2030-05-15T12:00:00Z"}}, coverage{})
	l.ask(t, question{target: "/api/v1/searches/popular?limit=1", want: fields{"items.*.query": "berths", "total": 3}},
		coverage{})
	l.ask(t, question{target: "/api/v1/searches/zero",
		want: fields{"items.*.query": "unicorn", "items.0.zero_count": 3, "total": 1}}, coverage{})

	*clock = now.AddDate(0, 0, 6)
	l.ask(t, question{target: "/api/v1/searches/zero?window=7", want: fields{"total": 1}}, coverage{})
	l.ask(t, question{target: "/api/v1/searches/zero?window=6", want: fields{
		"total": 0, "hint": "every search of these days found something"}}, coverage{})
	l.ask(t, question{target: "/api/v1/searches/popular?window=1", want: fields{
		"total": 0, "hint": "nothing was searched for in these days"}}, coverage{})
}

// TestMisspeltQueriesAreNotProposed holds that the first page proposes what was
// searched for often and found as it was typed.
func TestMisspeltQueriesAreNotProposed(t *testing.T) {
	l, _ := counted(t)
	for range 3 {
		for _, query := range []string{"harbour", "harbuor"} {
			do(l.public, "GET", "/api/v1/search?q="+query, "")
		}
	}
	l.ask(t, question{target: "/api/v1/searches/popular", want: fields{
		"items.*.query": "harbour,harbuor", "items.*.zero_count": "0,0", "items.*.corrected_count": "0,3"}}, coverage{})
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Accept", "text/html")
	w := httptest.NewRecorder()
	l.public.ServeHTTP(w, r)
	if page := w.Body.String(); !strings.Contains(page, ">harbour</a>") || strings.Contains(page, "harbuor") {
		t.Errorf("proposed: %s", page)
	}
}

// TestAFloodOfSearchesIsSampled holds that the address of the client reaches
// the tally, over REST as over MCP.
func TestAFloodOfSearchesIsSampled(t *testing.T) {
	l, _ := counted(t)
	for range 130 {
		call(t, l.public, "search", `{"query":"berths","limit":1}`)
	}
	for range 10 {
		do(l.public, "GET", "/api/v1/search?q=berths&limit=1", "")
	}
	l.ask(t, question{target: "/api/v1/searches/popular", want: fields{"items.0.count": 122}}, coverage{})
}

// TestViolationsAreCounted sends reports as browsers do and reads the counts.
func TestViolationsAreCounted(t *testing.T) {
	l, clock := counted(t)
	report := func(directive, blocked string) {
		t.Helper()
		r := httptest.NewRequest("POST", "/csp-reports", strings.NewReader(fmt.Sprintf(
			`{"csp-report":{"document-uri":"https://kb.example/status?q=private","effective-directive":%q,"blocked-uri":%q}}`,
			directive, blocked)))
		r.Header.Set("Content-Type", "application/csp-report")
		w := httptest.NewRecorder()
		if l.public.ServeHTTP(w, r); w.Code != 204 || w.Body.Len() > 0 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	for range 3 {
		report("img-src", "https://cdn.example/x.png?user=1")
	}
	report("img-src", "https://cdn.example/y.png")
	report("script-src-elem", "inline")
	if w := do(l.public, "POST", "/csp-reports", `{}`); w.Code != 415 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	l.ask(t, question{target: "/api/v1/csp-violations?limit=1", want: fields{
		"total": 5, "items.*.directive": "img-src,script-src-elem", "items.*.count": "4,1", "items.0.blocked.#": 1,
		"items.0.blocked.0.blocked": "https://cdn.example/x.png", "items.0.blocked.0.count": 3,
		"items.1.blocked.0.blocked": "inline", "items.1.last_reported": "2030-05-15T12:00:00Z"}}, coverage{})
	body := do(l.public, "GET", "/api/v1/csp-violations", "").Body.String()
	if strings.Contains(body, "kb.example") || strings.Contains(body, "192.0.2.1") || strings.Contains(body, "user") {
		t.Errorf("it names pages or clients: %s", body)
	}
	*clock = now.AddDate(0, 0, 30)
	l.ask(t, question{target: "/api/v1/csp-violations?window=30", want: fields{"total": 0}}, coverage{})
	l.ask(t, question{target: "/api/v1/csp-violations?window=31", want: fields{"total": 5}}, coverage{})
}

// TestPagesReportViolations holds the policies of answers: pages say where
// browsers report to, and data may do nothing.
func TestPagesReportViolations(t *testing.T) {
	l := open(t)
	for _, target := range []string{"/status", "/api/v1/reference"} {
		r := httptest.NewRequest("GET", target, nil)
		r.Header.Set("Accept", "text/html")
		w := httptest.NewRecorder()
		l.public.ServeHTTP(w, r)
		policy := w.Header().Get("Content-Security-Policy")
		if w.Code != 200 || !strings.HasPrefix(policy, "default-src 'none'; ") ||
			!strings.HasSuffix(policy, "; report-uri /csp-reports; report-to csp") ||
			strings.Contains(policy, "unsafe") ||
			w.Header().Get("Reporting-Endpoints") != `csp="/csp-reports"` {
			t.Errorf("%s: %d %q %q", target, w.Code, policy, w.Header().Get("Reporting-Endpoints"))
		}
	}
	if p := do(l.public, "GET", "/status",
		"").Header().Get("Content-Security-Policy"); p != "default-src 'none'; frame-ancestors 'none'" {
		t.Errorf("of JSON: %s", p)
	}
}
