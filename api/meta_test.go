package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
)

func countQuestions(l *library) []question {
	return []question{
		{name: "the status says what works", target: "/status",
			want: fields{"ready": true, "index.lag": 0, "as_of": "2030-05-15T12:00:00Z"}},
		{name: "the index lists every endpoint", target: "/api/v1",
			want: fields{"name": "almanac", "network": "Tidewater", "mcp": publicURL + "/mcp", "openapi": publicURL +
				"/api/v1/openapi.json"}, check: func(t *testing.T, answer any) {
				var want []string
				for _, o := range l.ops {
					if o.Path != "" {
						want = append(want, strings.ReplaceAll(o.Path, "...}", "}"))
					}
					if o.Post {
						want = append(want, o.Path)
					}
				}
				want = append(want, "/api/v1/openapi.json", "/health", "/ready")
				if got, _ := at(answer, "endpoints.*.path"); got != strings.Join(want, ",") {
					t.Errorf("endpoints %v, want %v", got, want)
				}
				endpoints, _ := at(answer, "endpoints")
				for _, e := range endpoints.([]any) {
					method, _ := at(e, "method")
					path, _ := at(e, "path")
					params, _ := at(e, "parameters.*.x")
					if w := do(l.public, "GET", path.(string), ""); method == "GET" &&
						!strings.Contains(path.(string), "{") && w.Code != 200 && w.Code != 400 || params == nil {
						t.Errorf("%v %v: %d %v", method, path, w.Code, params)
					}
				}
			}},
		{name: "sources have one row per kind", target: "/api/v1/sources", check: func(t *testing.T, answer any) {
			checkSources(t, answer)
		}},
		{name: "what is indexed", tool: "get_network_stats",
			want: fields{"cips.total": 8, "cips.in_review": 1, "cips.final": 2, "cips.by_status.Withdrawn": 2,
				"grant_proposals.total": 3, "grant_proposals.open": 2,
				"grant_proposals.closed": 1, "doc_pages": 3, "forum_topics": 1, "forum_posts": 2, "forge_issues": 1,
				"forge_pulls": 1, "forge_discussions": 1, "releases": 2, "videos": 1, "blog_posts": 1,
				"mailing_threads":  1,
				"mailing_messages": 1, "whitepapers": 1, "radar_items": 1, "by_kind.proposal": 4,
				"by_kind.attachment": 2}},
		{name: "a tool without arguments takes none", tool: "get_network_stats", args: `{"days":1}`, status: 400,
			message: "get_network_stats takes none"},
	}
}

func checkSources(t *testing.T, answer any) {
	t.Helper()
	types, _ := at(answer, "sources.*.type")
	var want []string
	for _, k := range catalog.Kinds {
		want = append(want, string(k.Kind))
	}
	if types != strings.Join(want, ",") {
		t.Errorf("rows of %v, want %v", types, want)
	}
	rows, _ := at(answer, "sources")
	sum := 0.0
	byType := map[string]any{}
	for _, row := range rows.([]any) {
		n, _ := at(row, "count")
		sum += n.(float64)
		name, _ := at(row, "type")
		byType[name.(string)] = row
	}
	total, _ := at(answer, "total_records")
	if count, _ := at(answer, "source_count"); total != sum || count != float64(len(want)) {
		t.Errorf("%v records in %v rows, want %v in %d", total, count, sum, len(want))
	}
	for kind, want := range map[string]fields{
		// Two sources: the older success, the greater age, the shorter promise.
		"doc": {"desc": "Pilot books", "count": 3, "last_synced": "2030-05-15T09:00:00Z",
			"last_run": "2030-05-15T09:00:00Z", "age_seconds": 10_800, "freshness_threshold_seconds": 7_200,
			"stale": false, "error": nil, "names.#": 2},
		"cip": {"count": 8, "last_synced": "2030-05-15T11:00:00Z", "age_seconds": 3_600,
			"freshness_threshold_seconds": 7_200, "stale": false},
		"proposal": {"count": 4, "last_synced": "2030-05-14T06:00:00Z", "freshness_threshold_seconds": nil,
			"stale": false, "error": "the last run failed; the operator's log says why"},
		"topic": {"age_seconds": 0},
		"issue": {"last_synced": nil, "last_run": nil, "age_seconds": nil, "names.0": "forge"},
	} {
		for path, w := range want {
			if n, ok := w.(int); ok {
				w = float64(n)
			}
			if got, ok := at(byType[kind], path); !ok || got != w {
				t.Errorf("%s: %s is %v, want %v", kind, path, got, w)
			}
		}
	}
}

func TestResources(t *testing.T) {
	l := open(t).ready(t)
	type reply struct {
		Result struct {
			Resources []struct {
				URI         string
				Size        int
				Annotations struct{ LastModified string }
			} `json:"resources"`
			Contents []struct {
				URI, MIMEType, Text string
			} `json:"contents"`
		}
		Error *struct{ Code int }
	}
	ask := func(method, params string) (r reply) {
		t.Helper()
		w := do(l.public, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)
		if err := json.Unmarshal(w.Body.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	var uris []string
	for _, r := range ask("resources/list", "{}").Result.Resources {
		uris = append(uris, r.URI)
		contents := ask("resources/read", `{"uri":"`+r.URI+`"}`).Result.Contents
		if len(contents) != 1 || r.Size != len(contents[0].Text) || r.Annotations.LastModified == "" {
			t.Errorf("%+v is listed, read %d bytes", r, len(contents[0].Text))
		}
	}
	want := map[string]fields{
		"kb://status": {"network": "Tidewater", "ready": true, "healthy": false,
			"last_synced": "2030-05-15T13:00:00Z", "index.lag": 0, "index.down.#": 0, "as_of": "2030-05-15T12:00:00Z"},
		"kb://tools": {"items.0.name": "list_cips", "items.0.group": "cips"},
		"kb://docs-index": {"total": 3, "corpora.*.repository": "harbour/docs,harbour/ops-docs", "corpora.0.pages": 2,
			"corpora.0.docs.*.title": "Book a berth,Almanac of tides"},
	}
	for uri, fields := range want {
		if !slices.Contains(uris, uri) {
			t.Errorf("%s is not listed", uri)
		}
		contents := ask("resources/read", `{"uri":"`+uri+`"}`).Result.Contents
		if len(contents) != 1 || contents[0].URI != uri || contents[0].MIMEType != "application/json" {
			t.Fatalf("%s: %v", uri, contents)
		}
		var v any
		if err := json.Unmarshal([]byte(contents[0].Text), &v); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(contents[0].Text, "/var/secret") {
			t.Errorf("%s reveals internals", uri)
		}
		for path, w := range fields {
			if n, ok := w.(int); ok {
				w = float64(n)
			}
			if got, ok := at(v, path); !ok || got != w {
				t.Errorf("%s: %s is %v, want %v", uri, path, got, w)
			}
		}
	}
	if e := ask("resources/read", `{"uri":"kb://attic"}`).Error; e == nil {
		t.Error("an unknown resource is not an error")
	}
}

// TestBeforeTheFirstIndex holds what answers while the index is being built.
func TestBeforeTheFirstIndex(t *testing.T) {
	l := open(t)
	for _, o := range l.ops {
		if o.Path == "" || o.Method != http.MethodGet {
			continue
		}
		w := do(l.public, "GET", strings.NewReplacer("{id}", "56", "{id...}", "56").Replace(o.Path)+"?q=x&ids=1", "")
		switch {
		case o.BeforeReady && w.Code != 200:
			t.Errorf("%s: %d", o.Path, w.Code)
		case !o.BeforeReady && (w.Code != 503 || w.Header().Get("Retry-After") == "" ||
			!strings.HasPrefix(w.Body.String(), `{"error":"loading, `)):
			t.Errorf("%s: %d %v %s", o.Path, w.Code, w.Header(), w.Body)
		}
	}
	for target, want := range map[string]int{"/health": 200, "/ready": 503, "/api/v1": 200,
		"/api/v1/openapi.json": 200} {
		if w := do(l.public, "GET", target, ""); w.Code != want {
			t.Errorf("%s: %d, want %d", target, w.Code, want)
		}
	}
	if w := do(l.public, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); w.Code != 200 ||
		!strings.HasPrefix(w.Body.String(), `{"jsonrpc"`) || !strings.Contains(w.Body.String(), `"get_doc"`) {
		t.Errorf("tools/list: %d %.100s", w.Code, w.Body)
	}
	if got, isError := call(t, l.public, "search", `{"query":"tide"}`); !isError ||
		!strings.Contains(got, "loading, ") {
		t.Errorf("search: %s", got)
	}
	l.ready(t)
	if w := do(l.public, "GET", "/api/v1/search?q=tide", ""); w.Code != 200 {
		t.Errorf("after: %d %s", w.Code, w.Body)
	}
}

// TestABrokenCatalogTellsNothing holds that what fails inside is an internal
// error on every interface.
func TestABrokenCatalogTellsNothing(t *testing.T) {
	l := open(t).ready(t)
	if err := l.store.Close(); err != nil {
		t.Fatal(err)
	}
	arguments := map[string]string{"id": `"56"`, "cip_id": `"56"`, "cip_number": `"56"`, "slug": `"x"`, "days": `7`,
		"name": `"x"`, "api": `"x"`, "app_id": `"x"`, "tracking_cid": `"x"`, "background": `"EVM"`,
		"question": `"tide"`, "pattern": `"tide"`, "description": `"tide"`, "query": `"tide"`, "feature": `"rudder"`}
	for _, name := range []string{"server", "tool", "topic", "goal", "project", "idea", "draft_text"} {
		arguments[name] = `"tide"`
	}
	arguments["window_days"], arguments["pr_number"] = `30`, `7`
	for _, o := range l.ops {
		if o.ID == "get_index" || o.ID == "get_reference" {
			continue
		}
		q := question{status: 500, rest: "internal error", toolSays: "failed; the operator's log says why"}
		if o.Path != "" {
			ids := strings.NewReplacer("{id}/comments", "1000001/comments", "{id}", "56", "{id...}", "1000001")
			q.target = ids.Replace(o.Path) + "?q=tide&ids=1"
			if o.ID == "list_records" {
				q.target += "&kind=doc"
			}
			if o.Method == http.MethodPost {
				q.body = `{"ids":["1"]}`
			}
		}
		if q.tool = o.Tool; q.tool == "get_doc" {
			q.args = `{"id":1000001}`
		} else if q.tool != "" {
			var args []string
			for _, name := range o.ToolIn.Required {
				args = append(args, `"`+name+`":`+cmp.Or(arguments[name], `"1.0"`))
			}
			q.args = "{" + strings.Join(args, ",") + "}"
		}
		t.Run(o.ID, func(t *testing.T) { l.ask(t, q, coverage{}) })
	}
}

func TestTheDescriptionIsValid(t *testing.T) {
	l := open(t).ready(t)
	body := do(l.public, "GET", "/api/v1/openapi.json", "").Body.Bytes()
	doc, err := openapi3.NewLoader().LoadFromData(body)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"/api/v1/docs/{id}", "/health", "/ready"} {
		item := doc.Paths.Value(path)
		if item == nil || item.Get == nil {
			t.Errorf("%s is not described", path)
			continue
		}
		if limited := item.Get.Responses.Value("429") != nil; limited != strings.HasPrefix(path, "/api/") {
			t.Errorf("%s: limited: %v", path, limited)
		}
	}
}

// TestStatusNamesSourcesThatGaveNothing holds that a source whose first run failed is
// told of although no record is its own, and one that was not read yet is no failure.
func TestStatusNamesSourcesThatGaveNothing(t *testing.T) {
	n := network.Network{Name: "causeway", Title: "Causeway", Proposals: tidewater, Sources: []network.Source{
		{Name: "docs", Kind: "docs"}, {Name: "labels", Kind: "forge"}, {Name: "forum", Kind: "forum"},
		{Name: "papers", Kind: "whitepaper"}, {Name: "talks", Kind: "video"},
	}}
	var store *sqlstore.Store
	l := serve(t, n, func() time.Time { return now }, func(s *sqlstore.Store) { store = s }).ready(t)
	set := func(states ...catalog.SourceState) {
		t.Helper()
		for _, s := range states {
			if err := store.SetSource(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := store.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: []catalog.Entry{
		{Record: catalog.Record{Kind: catalog.KindDoc, Key: "tides", Title: "Tides", Path: "tides.md"}}}}); err != nil {
		t.Fatal(err)
	}
	says := func(want fields, pageHas, pageLacks string) {
		t.Helper()
		var answer any
		if err := json.Unmarshal(do(l.public, "GET", "/status", "").Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		for path, value := range want {
			if got, _ := at(answer, path); fmt.Sprint(got) != fmt.Sprint(value) {
				t.Errorf("%s is %v, want %v", path, got, value)
			}
		}
		page := strings.Join(strings.Fields(visit(l.public, "/status").Body.String()), " ")
		if !strings.Contains(page, pageHas) || strings.Contains(page, pageLacks) {
			t.Errorf("the page lacks %q or has %q: %s", pageHas, pageLacks, page)
		}
	}
	set(catalog.SourceState{Name: "docs", LastRun: now, LastSuccess: now},
		catalog.SourceState{Name: "labels", LastRun: now, LastSuccess: now}) // which adds to records of others
	says(fields{"healthy": true, "failed_sources": 0, "configured_sources": 5, "unread.*.name": "forum,papers,talks",
		"unread.0.state": "not_read_yet", "unread.0.last_run": nil}, "Everything works.", "could not be read")
	set(catalog.SourceState{Name: "papers", LastRun: now, LastSuccess: now, Skipped: 1, Remark: catalog.NoRecords})
	says(fields{"healthy": false, "failed_sources": 0, "unread.1.state": "empty"}, "needs attention", "could not be read")
	set(catalog.SourceState{Name: "forum", LastRun: now, Error: "dial 10.0.0.7: refused"},
		catalog.SourceState{Name: "gone", LastRun: now, Error: "not in the network file"})
	says(fields{"healthy": false, "failed_sources": 1, "unread.0.state": "failed", "unread.0.last_synced": nil,
		"unread.0.error": "the last run failed; the operator's log says why"}, "1 of 5 sources could not be read", "10.0.0.7")
	set(catalog.SourceState{Name: "papers", LastRun: now, LastSuccess: now},
		catalog.SourceState{Name: "forum", LastRun: now, LastSuccess: now})
	says(fields{"healthy": true, "failed_sources": 0, "unread.*.name": "talks"}, "Everything works.", "could not be read")
}
