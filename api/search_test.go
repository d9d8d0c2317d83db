package api_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"almanac/api"
	"almanac/catalog"
)

func searchQuestions(t *testing.T, l *library) []question {
	topic := l.id(t, catalog.KindTopic, "1234")
	onlyKind := func(kinds ...string) func(*testing.T, any) {
		return func(t *testing.T, answer any) {
			got, _ := at(answer, "items.*.kind")
			for k := range strings.SplitSeq(got.(string), ",") {
				if !strings.Contains(" "+strings.Join(kinds, " ")+" ", " "+k+" ") {
					t.Errorf("a %s among %v", k, kinds)
				}
			}
		}
	}
	const unknown = `no document has "zorblatt": what is listed has other words of the query, or is near it in meaning`
	all := []question{
		{name: "words find their document", target: "/api/v1/search?q=reserve+a+mooring", tool: "search",
			args: `{"query":"reserve a mooring"}`, want: fields{
				"query": "reserve a mooring", "type": "all", "items.0.title": "Book a berth", "items.0.kind": "doc",
				"items.0.path": "guide/berths.md", "items.0.source": "docs",
				"items.0.url": "https://docs.example/guide/berths.md", "degraded.#": 0, "corrected": nil,
				"items.0.date": "2030-05-05T12:00:00Z"}},
		{name: "an identifier finds its proposal", target: "/api/v1/search?q=cip+56", tool: "search",
			args: `{"query":"cip 56"}`, want: fields{"items.0.id": "0056", "items.0.key": "CIP-0056",
				"items.0.state": "Review"}},
		{name: "a typo is read as the near word", target: "/api/v1/search?q=quartermastre", tool: "search",
			args: `{"query":"quartermastre"}`, want: fields{"items.0.title": "Book a berth"}},
		{name: "a word that no document has", target: "/api/v1/search?q=quartermaster+zorblatt", tool: "search",
			args: `{"query":"quartermaster zorblatt"}`, want: fields{"items.0.title": "Book a berth", "hint": unknown}},
		{name: "an exclusion beside what was pasted", target: "/api/v1/search?q=fog+--tide+-berths",
			want: fields{"hint": "-berths is read as text, as the query looks " +
				`pasted: without berths search for fog --tide -"berths"`}},
		{name: "a type after kind", target: "/api/v1/search?q=oracle+kind:mail", want: fields{"total": 0, "hint": "nothing " +
			"matches all of the query: there are 6 without kind:mail (a type: its kinds are kind:mail_thread,mail_message)"}},
		{name: "one within a kind", tool: "find_cip_for_feature", args: `{"feature":"tide oracle zorblatt"}`,
			want: fields{"items.0.id": "0056", "hint": unknown}},
		{name: "one in a page of many", tool: "search", args: `{"query":"tide zorblatt","limit":1}`,
			check: func(t *testing.T, answer any) {
				hint, _ := at(answer, "hint")
				if s, _ := hint.(string); !strings.HasPrefix(s, unknown+"; ") || !strings.HasSuffix(s, "more: offset 1") {
					t.Errorf("hint %q", hint)
				}
			}},
		{name: "highlighting is requested", target: "/api/v1/search?q=fog&highlight=1",
			want: fields{"items.0.matches.title.#": 1}},
		{name: "no highlighting", target: "/api/v1/search?q=fog", check: func(t *testing.T, answer any) {
			if _, ok := at(answer, "items.0.matches"); ok {
				t.Error("there are matches")
			}
		}},
		{name: "the best of each source", tool: "search_community", args: `{"query":"tide oracle","limit":1}`,
			want: fields{
				"sources.*.source": "forum,mail,blog,forge", "sources.0.items.#": 1,
				"sources.1.items.0.kind": "mail_thread", "sources.2.items.0.title": "Spring tide"}},
		{name: "applications by what they do", tool: "find_apps_by_pattern", args: `{"pattern":"ferry tickets"}`,
			want: fields{"items.0.kind": "app"}},
		{name: "similar projects", tool: "find_similar_projects", args: `{"description":"sells tickets for ferries"}`,
			want: fields{"items.*.title": "Ferryline"}},
		{name: "issues", tool: "search_forge_issues", args: `{"query":"gauge zero"}`,
			want: fields{"items.*.key": "tide/pilot#5"}},
		{name: "closed issues", tool: "search_forge_issues", args: `{"query":"gauge zero","state":"closed"}`,
			want: fields{"total": 0}},
		{name: "mail", tool: "search_mailing_list", args: `{"query":"oracle","group":"Tide/Pilot"}`,
			want: fields{"items.0.title": "Oracle questions"}},
		{name: "mail of another list", tool: "search_mailing_list", args: `{"query":"oracle","group":"attic"}`,
			want: fields{"total": 0}},
		{name: "talks", tool: "search_talks", args: `{"query":"harbour tour"}`,
			want: fields{"items.*.title": "Harbour tour"}},
		{name: "security fixes", tool: "find_security_patches", want: fields{"items.*.version": "1.2.0",
			"items.0.statement": "It closes a vulnerability of the lock."}},
		{name: "nothing is found", target: "/api/v1/search?q=xylophone+zebra", tool: "search",
			args: `{"query":"xylophone zebra"}`, want: fields{"items.#": 0, "total": 0, "degraded.#": 0}},
		{name: "a type", target: "/api/v1/search?q=oracle&type=Mail", tool: "search",
			args: `{"query":"oracle","type":"mail"}`, want: fields{"type": "mail", "items.0.title": "Oracle questions"},
			check: onlyKind("mail_thread", "mail_message")},
		{name: "the id of a topic is its record's",
			target: "/api/v1/search?q=when+is+the+oracle+live&type=discussion&kind=topic",
			want:   fields{"items.0.id": topic, "items.0.key": "1234", "total": 1}},
		{name: "a kind", target: "/api/v1/search?q=oracle&kind=Blog",
			want: fields{"items.#": 1, "items.0.title": "Spring tide"}, check: onlyKind("blog")},
		{name: "a kind of another type", target: "/api/v1/search?q=oracle&kind=blog&type=mail", status: 400,
			message: "kind blog is not of type mail: its type is blog"},
		{name: "a source", target: "/api/v1/search?q=fog&source=OPS-docs", want: fields{"items.*.title": "Run in fog"}},
		{name: "a misspelt source", target: "/api/v1/search?q=fog&source=ops-dosc&sort=date", want: fields{
			"total": 0, "hint": `no record has the source "ops-dosc": did you mean "ops-docs"?`}},
		{name: "a misspelt source in the query", target: "/api/v1/search?q=fog+source:ops-dosc", want: fields{
			"total": 0, "hint": `no record has the source "ops-dosc": did you mean "ops-docs"?`}},
		{name: "a tool refuses a misspelt source", tool: "search", args: `{"query":"fog source:ops-dosc"}`, status: 400,
			message: `no record has the source "ops-dosc": did you mean "ops-docs"?`},
		{name: "since a day", target: "/api/v1/search?q=oracle&type=blog&since=2030-05-13", want: fields{"items.#": 1}},
		{name: "since a later day", target: "/api/v1/search?q=oracle&type=blog&since=2030-05-14",
			want: fields{"items.#": 0}},
		{name: "since a time", target: "/api/v1/search?q=oracle&type=blog&since=2030-05-13T12:00:01Z",
			want: fields{"items.#": 0}},
		{name: "until a day", target: "/api/v1/search?q=oracle&type=blog&until=2030-05-14", want: fields{"items.#": 1}},
		{name: "until a time in another zone",
			target: "/api/v1/search?q=oracle&type=blog&until=2030-05-13T13:00:00%2B02:00", want: fields{"items.#": 0}},
		{name: "since after until", target: "/api/v1/search?q=oracle&since=2030-05-14&until=2030-05-13", status: 400,
			message: "since must not be after until"},
		{name: "facets", target: "/api/v1/search?q=gauge&facets=1&type=forge",
			want: fields{"facets.kind.issue": 1, "facets.kind.pull": 1, "facets.source.forge": 4}},
		{name: "a page past the end", target: "/api/v1/search?q=gauge&offset=999", tool: "search",
			args: `{"query":"gauge","offset":100000}`, want: fields{"items.#": 0}},
		{name: "a q of marks", target: "/api/v1/search?q=%3F%21", tool: "search", args: `{"query":"?!"}`, status: 400,
			rest:     "q cannot be searched for: the query has nothing to search for",
			toolSays: "query cannot be searched for: the query has nothing to search for"},
		{name: "an operator against a parameter", target: "/api/v1/search?q=oracle+kind:doc&type=mail", tool: "search",
			args: `{"query":"oracle kind:doc","type":"mail"}`, status: 400,
			message: "the kind: operator of the query contradicts the filter"},
		{name: "a broken query string", target: "/api/v1/search?q=%zz", status: 400,
			message: "the query string is malformed"},
		{name: "q given twice", target: "/api/v1/search?q=a&q=b", status: 400, message: "q must be given once"},
		{name: "10,000 characters", target: "/api/v1/search?q=" + strings.Repeat("mooring+", 1_250), tool: "search",
			args: `{"query":"` + strings.Repeat("mooring ", 1_250) + `"}`,
			want: fields{"items.0.title": "Book a berth"}},
		{name: "10,000 bytes, each percent-encoded", target: "/api/v1/search?q=" + strings.Repeat("%6Dooring%20", 1) +
			strings.Repeat("%C3%A9%20%F0%9F%8C%8A%20", 1_249), want: fields{"items.0.title": "Book a berth"}},
		{name: "30,000 characters of one word", target: "/api/v1/search?q=" + strings.Repeat("x", 30_000),
			tool: "search", args: `{"query":"` + strings.Repeat("x", 30_000) + `"}`,
			want: fields{"query": strings.Repeat("x", 4_000)}},
		{name: "30,000 characters of many words", target: "/api/v1/search?q=" + strings.Repeat("mooring+", 3_750),
			want: fields{"items.0.title": "Book a berth"}},
		{name: "30,000 bytes, each percent-encoded", target: "/api/v1/search?q=" + strings.Repeat("%6D", 30_000),
			status: 414, message: "the address must be at most 32 KiB long"},

		{name: "a question in own words", tool: "semantic_search",
			args: `{"query":"how do I reserve a place for my ship"}`, want: fields{"type": "all"}},
		{name: "the id of a hit by meaning says it with one word", tool: "semantic_search",
			args: `{"query":"oracle","source_types":["blog","MAIL"],"limit":50}`, want: fields{"type": "blog,mail"},
			check: func(t *testing.T, answer any) {
				onlyKind("blog", "mail_thread", "mail_message")(t, answer)
				ids, _ := at(answer, "items.*.id")
				if _, ok := at(answer, "items.0.record_id"); ok || ids == "" {
					t.Errorf("ids %v, and those of the records again", ids)
				}
			}},
		{name: "all types among some are all", tool: "semantic_search",
			args: `{"query":"oracle","source_types":["blog","all"]}`, want: fields{"type": "all"}},
		{name: "no types are all", tool: "semantic_search", args: `{"query":"oracle","source_types":[]}`,
			want: fields{"type": "all"}},
		{name: "a feature", tool: "find_cip_for_feature", args: `{"feature":"tide oracle"}`,
			want: fields{"feature": "tide oracle", "items.0.id": "0056", "items.0.status": "Review"}},
		{name: "a feature that nothing has", tool: "find_cip_for_feature", args: `{"feature":"xylophone zebra"}`,
			want: fields{"items.#": 0, "total": 0}},
		{name: "release notes", tool: "search_release_notes", args: `{"feature":"rudder jams"}`,
			want: fields{"items.0.version": "1.2.0", "items.0.repository": "tide/pilot", "items.0.prerelease": false,
				"items.1.prerelease": true, "total": 2}},
		{name: "release notes on nothing", tool: "search_release_notes", args: `{"feature":"xylophone zebra"}`,
			want: fields{"items.#": 0}},
	}
	for _, limit := range []string{"0", "51", "-1", "abc", "1.5", "9999999999999999999"} {
		q := question{name: "limit " + limit, target: "/api/v1/search?q=a&limit=" + limit, status: 400,
			message: "limit must be "}
		if limit != "abc" {
			q.tool, q.args = "search", `{"query":"a","limit":`+limit+`}`
		}
		all = append(all, q)
	}
	for i := range all {
		check := all[i].check
		all[i].check = func(t *testing.T, answer any) {
			scoresFall(t, answer)
			if check != nil {
				check(t, answer)
			}
		}
	}
	return all
}

// scoresFall holds that no score is above the one before.
func scoresFall(t *testing.T, answer any) {
	items, _ := at(answer, "items")
	hits, _ := items.([]any)
	last := 2.0
	for _, hit := range hits {
		score, _ := at(hit, "score")
		n, ranked := score.(float64)
		if ranked && n > last {
			t.Errorf("score %v after %v", n, last)
		}
		last = n
	}
}

// TestALongAddressIsRefusedInJSON calls a real server: net/http refuses headers
// beyond its own limit in plain text.
func TestALongAddressIsRefusedInJSON(t *testing.T) {
	l := open(t).ready(t)
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = api.NewServer(l.public, time.Minute, slog.New(slog.DiscardHandler))
	srv.Start()
	defer srv.Close()
	for q, want := range map[string]int{strings.Repeat("mooring+", 3_750): 200,
		strings.Repeat("%F0%9F%8C%8A", 3_700): 414} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/api/v1/search?q="+q, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil || resp.StatusCode != want ||
			!strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
			t.Errorf("%d bytes: %d %s %v, want %d", len(q), resp.StatusCode, resp.Header.Get("Content-Type"), err, want)
		}
	}
}

// BenchmarkLongQuery is what a query at the limit of an address costs.
func BenchmarkLongQuery(b *testing.B) {
	l := open(b).ready(b).public
	for name, q := range map[string]string{"short": "reserve+a+mooring",
		"10kB": strings.Repeat("mooring+at+ebb1+", 625), "30kB": strings.Repeat("x", 30_000)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if w := do(l, "GET", "/api/v1/search?q="+q, ""); w.Code != 200 {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
