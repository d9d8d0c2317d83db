package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"almanac/api/server"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
)

// rule is what empty lists say of a published service.
const rule = "the service is published (server.public_url is no loopback address), " +
	"so that what fewer than five clients sent is not listed"

func analyticsQuestions() []question {
	return []question{
		{name: "what is searched for", target: "/api/v1/searches/popular?window=1",
			want: fields{"window_days": 1, "limit": 20}},
		{name: "what is not found", target: "/api/v1/searches/zero?limit=100",
			want: fields{"window_days": 7, "limit": 100}},
		{name: "what was blocked", target: "/api/v1/csp-violations", want: fields{
			"total": 0, "items.#": 0, "limit": 5, "hint": "no browser reported a violation in these days; " + rule}},
	}
}

// counted makes a knowledge base of two documents whose clock can be moved.
func counted(t *testing.T) (l *library, clock *time.Time) {
	t.Helper()
	return countedAs(t, server.Reach{PublicURL: publicURL, Listen: "127.0.0.1:8080"})
}

// countedAs makes one that is reached so.
func countedAs(t *testing.T, reach server.Reach) (l *library, clock *time.Time) {
	t.Helper()
	moment := now
	clock = &moment
	n := network.Network{Name: "tidewater", Title: "Tidewater", Proposals: tidewater}
	l = serveAs(t, n, func() time.Time { return *clock }, reach, func(store *sqlstore.Store) {
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

// from sends requests from a client's address.
func from(address string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(address), 1).String()
		h.ServeHTTP(w, r)
	})
}

// clients are n clients of a handler.
func clients(n int, h http.Handler) (all []http.Handler) {
	for i := range n {
		all = append(all, from(fmt.Sprintf("198.51.%d.1", i), h))
	}
	return all
}

// TestSearchesAreCounted asks as people and programs do and reads the counts.
func TestSearchesAreCounted(t *testing.T) {
	l, clock := counted(t)
	for _, h := range clients(5, l.public) {
		search := func(query string) { do(h, "GET", "/api/v1/search?q="+query, "") }
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
		call(t, h, "search", `{"query":"berths"}`)
		call(t, h, "semantic_search", `{"query":"berths","source_types":["doc"]}`)
		call(t, h, "semantic_search", `{"query":"unicorn"}`)
		call(t, h, "search_community", `{"query":"berths"}`) // another tool
		do(h, "GET", "/health", "")
	}
	l.ask(t, question{target: "/api/v1/searches/popular", want: fields{
		"items.*.query": "berths,unicorn,lights", "items.*.count": "25,15,5", "items.*.zero_count": "0,15,0", "total": 3,
		"items.0.last_searched": "2030-05-15T00:00:00Z"}}, coverage{})
	l.ask(t, question{target: "/api/v1/searches/popular?limit=1", want: fields{"items.*.query": "berths", "total": 3}},
		coverage{})
	l.ask(t, question{target: "/api/v1/searches/zero",
		want: fields{"items.*.query": "unicorn", "items.0.zero_count": 15, "total": 1}}, coverage{})

	*clock = now.AddDate(0, 0, 6)
	l.ask(t, question{target: "/api/v1/searches/zero?window=7", want: fields{"total": 1}}, coverage{})
	l.ask(t, question{target: "/api/v1/searches/zero?window=6", want: fields{
		"total": 0, "hint": "no search of these days found nothing; " + rule}}, coverage{})
	l.ask(t, question{target: "/api/v1/searches/popular?window=1", want: fields{
		"total": 0, "hint": "nothing was searched for in these days; " + rule}}, coverage{})
}

// TestWhatFewSearchForIsTheirs holds that a query is public when five clients typed it
// on one day, whatever one of them does, and that only the day of it is; who keeps the
// service reads all.
func TestWhatFewSearchForIsTheirs(t *testing.T) {
	l, clock := counted(t)
	search := func(h http.Handler, query string) {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/api/v1/search?q="+query, nil))
	}
	for _, h := range clients(4, l.public) {
		for range 3 {
			search(h, "maria+keller+diagnosis")
		}
	}
	for address := range 9 {
		search(from(fmt.Sprintf("203.0.113.%d", address), l.public), "house+of+jane+doe")
	}
	for subnet := range 9 { // one customer
		search(from(fmt.Sprintf("2001:db8:7:%x::1", subnet), l.public), "salary+of+john+miller")
	}
	for day := range 9 { // one person, for days
		*clock = now.AddDate(0, 0, day)
		search(l.public, "keys+of+the+lighthouse")
	}
	for _, target := range []string{"/api/v1/searches/popular?window=90", "/api/v1/searches/zero?window=90"} {
		if body := do(l.public, "GET", target, "").Body.String(); strings.Contains(body, "maria") ||
			strings.Contains(body, "jane") || strings.Contains(body, "salary") || strings.Contains(body, "lighthouse") {
			t.Errorf("%s: %s", target, body)
		}
	}
	all, total, err := l.store.Searches(t.Context(), catalog.SearchQuery{})
	if err != nil || total != 4 || all[0].Query != "maria keller diagnosis" || all[0].N != 12 {
		t.Errorf("the operator's: %+v, %v", all, err)
	}
}

// TestOnOneMachineAllIsCounted holds that who tries the service on the own machine sees
// what one searched for and what was blocked, and that nothing of it is public once a
// request came through a proxy.
func TestOnOneMachineAllIsCounted(t *testing.T) {
	const only = "only this machine reaches the service, so that each counts from the first"
	l, _ := countedAs(t, server.Reach{Listen: "127.0.0.1:8080"})
	lists := []string{"/api/v1/searches/popular", "/api/v1/searches/zero", "/api/v1/csp-violations"}
	for i, none := range []string{"nothing was searched for in these days", "no search of these days found nothing",
		"no browser reported a violation in these days"} {
		l.ask(t, question{target: lists[i], want: fields{"total": 0, "hint": none + "; " + only}}, coverage{})
	}
	visit(l.public, "/?q=unicorn")
	report := httptest.NewRequest("POST", "/csp-reports", strings.NewReader(
		`{"csp-report":{"effective-directive":"img-src","blocked-uri":"https://unicorn.example/x.png"}}`))
	report.Header.Set("Content-Type", "application/csp-report")
	l.public.ServeHTTP(httptest.NewRecorder(), report)
	for i, want := range []fields{
		{"total": 1, "items.*.query": "unicorn", "items.0.last_searched": "2030-05-15T00:00:00Z"},
		{"total": 1, "items.*.query": "unicorn", "items.0.zero_count": 1},
		{"total": 1, "items.0.blocked.*.blocked": "https://unicorn.example"},
	} {
		l.ask(t, question{target: lists[i], want: want}, coverage{})
	}
	r := httptest.NewRequest("GET", "/health", nil)
	r.Header.Set("Via", "1.1 harbour")
	l.public.ServeHTTP(httptest.NewRecorder(), r)
	for _, target := range lists {
		if body := do(l.public, "GET", target, "").Body.String(); strings.Contains(body, "unicorn") {
			t.Errorf("%s: %s", target, body)
		}
	}
	l.ask(t, question{target: lists[0], want: fields{"total": 0, "hint": "nothing was searched for in these days; " +
		"the service is published (a request came through a proxy), so that what fewer than five clients sent is not listed"}},
		coverage{})
}

// TestWhatPagesPropose holds that the first page, and one without results, propose
// what several people typed on pages on several days, found as it was typed, and that
// it holds no address.
func TestWhatPagesPropose(t *testing.T) {
	l, clock := counted(t)
	crowd := clients(5, l.public)
	type typed struct {
		query string
		days  int
		by    []http.Handler
		api   bool
	}
	var site []http.Handler
	for subnet := range 5 {
		site = append(site, from(fmt.Sprintf("2001:db8:7:%x::1", subnet), l.public))
	}
	all := []typed{
		{"harbour", 2, crowd, false},
		{"harbour lights 3.4.0", 2, crowd, false},
		{"harbuor", 2, crowd, false},                             // misspelt
		{"berths of the harbour", 1, crowd, false},               // on one day
		{"lights of the harbour", 3, crowd[:4], false},           // by four
		{"cost of lights", 3, site, false},                       // by one customer
		{"cost of berths", 2, crowd, true},                       // by programs
		{"harbour shells.example", 2, crowd, false},              // a host
		{"harbour shells .example", 2, crowd, false},             // the same in disguise
		{"harbour 2shells.4example", 2, crowd, false},            // with digits
		{"harbour http://shells", 2, crowd, false},               // an address
		{"harbour shells。example", 2, crowd, false},              // with another stop
		{"<b>harbour</b>", 2, crowd, false},                      // no words
		{"harbour " + strings.Repeat("ha", 30), 2, crowd, false}, // too long
	}
	for day := range 3 {
		*clock = now.AddDate(0, 0, day)
		for _, x := range all {
			for _, h := range x.by {
				target := "/?q="
				if x.api {
					target = "/api/v1/search?q="
				}
				if day >= x.days {
					continue
				}
				if w := visit(h, target+url.QueryEscape(x.query)); w.Code != 200 {
					t.Fatalf("%s: %d", x.query, w.Code)
				}
			}
		}
	}
	l.ask(t, question{target: "/api/v1/searches/popular?window=3", want: fields{"total": len(all) - 2}}, coverage{})
	for _, target := range []string{"/", "/?q=xylophone+zebra", "/results?q=xylophone+zebra"} {
		page := visit(l.public, target).Body.String()
		_, proposals, found := strings.Cut(page, "Often")
		proposals, _, _ = strings.Cut(proposals, "</p>")
		got := regexp.MustCompile(`>([^<]+)</a>`).FindAllStringSubmatch(proposals, -1)
		if !found || len(got) != 2 || got[0][1] != "harbour" || got[1][1] != "harbour lights 3.4.0" {
			t.Errorf("%s proposes %q: %.200s", target, got, proposals)
		}
	}
}

// TestViolationsAreCounted sends reports as browsers do and reads the counts.
func TestViolationsAreCounted(t *testing.T) {
	l, clock := counted(t)
	report := func(h http.Handler, directive, blocked string) {
		t.Helper()
		r := httptest.NewRequest("POST", "/csp-reports", strings.NewReader(fmt.Sprintf(
			`{"csp-report":{"document-uri":"https://kb.example/status?q=private","effective-directive":%q,"blocked-uri":%q}}`,
			directive, blocked)))
		r.Header.Set("Content-Type", "application/csp-report")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != 204 || w.Body.Len() > 0 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	for i, h := range clients(5, l.public) {
		report(h, "img-src", "https://cdn.example/x.png?user=1")
		report(h, "img-src", fmt.Sprintf("https://buy-shells-%d.example/now", i))
	}
	report(l.public, "img-src", "https://cdn.example/y.png")
	report(l.public, "script-src-elem", "inline")
	for range 9 { // one client, however often
		report(l.public, "font-src", "https://buy-shells.example/now")
	}
	if w := do(l.public, "POST", "/csp-reports", `{}`); w.Code != 415 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	l.ask(t, question{target: "/api/v1/csp-violations", want: fields{
		"total": 21, "items.*.directive": "img-src,font-src,script-src-elem", "items.*.count": "11,9,1",
		"items.0.blocked.*.blocked": "https://cdn.example,https", "items.0.blocked.*.count": "6,5",
		"items.1.blocked.*.blocked": "https", "items.2.blocked.0.blocked": "inline",
		"items.2.last_reported": "2030-05-15T12:00:00Z"}}, coverage{})
	l.ask(t, question{target: "/api/v1/csp-violations?limit=1", want: fields{
		"total": 21, "items.0.count": 11, "items.0.blocked.#": 1}}, coverage{})
	body := do(l.public, "GET", "/api/v1/csp-violations", "").Body.String()
	for _, private := range []string{"kb.example", "192.0.2.1", "user", "shells"} {
		if strings.Contains(body, private) {
			t.Errorf("it names %s: %s", private, body)
		}
	}
	*clock = now.AddDate(0, 0, 30)
	l.ask(t, question{target: "/api/v1/csp-violations?window=30", want: fields{"total": 0}}, coverage{})
	l.ask(t, question{target: "/api/v1/csp-violations?window=31", want: fields{"total": 21}}, coverage{})
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
