package api_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
	"almanac/ingest/endpoint"
)

// harbourAPI describes an API of the invented network.
const harbourAPI = `openapi: 3.0.3
info: {title: Harbour API, version: "2"}
servers: [{url: "https://harbour.example/api/harbour"}]
paths:
  /v2/berths:
    get: {summary: List the berths, operationId: listBerths, tags: [berths]}
    post: {summary: Reserve a berth for a ship, tags: [berths]}
  /v2/berths/{berth}:
    get: {summary: Read one berth}
    delete: {summary: Give a berth back, deprecated: true}
  /v2/berths/{berth}/lights:
    put:
      summary: Switch the lights of a berth
      parameters: [{name: berth, in: path, required: true, schema: {type: integer}, description: Its number.}]
      responses: {"204": {description: They are as wanted.}}
  /v2/tides/forecast:
    get: {description: Tells when the water is high. It is a forecast.}
`

// withEndpoints is a knowledge base of the API in two versions, and of a page on it.
func withEndpoints(t *testing.T) *library {
	t.Helper()
	var entries []catalog.Entry
	for _, f := range []endpoint.File{{Path: "api/2/harbour.yaml"}, {Path: "api/1/harbour.yaml", Other: true}} {
		api, err := endpoint.Read(endpoint.Input{Path: f.Path, Text: harbourAPI})
		if err != nil {
			t.Fatal(err)
		}
		f.URL, f.Container = "https://forge.example/"+f.Path, "harbour/api"
		all, err := api.Entries(f)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, all...)
	}
	gate, err := endpoint.Read(endpoint.Input{Path: "gate.json",
		Text: `{"openapi": "3.1.0", "info": {"title": "Gate"}, "paths": {"/open": {"post": {"summary": "Open the gate"}}}}`})
	if err != nil {
		t.Fatal(err)
	}
	all, err := gate.Entries(endpoint.File{Path: "gate.json", Container: "harbour/gate"})
	if err != nil {
		t.Fatal(err)
	}
	entries = append(entries, all...)
	entries = append(entries, catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: "berths.md",
		Path: "berths.md", Title: "Reserve a berth", Body: "Ask `POST /v2/berths` to reserve a berth for a ship. " +
			"The lights of a berth follow `/v2/berths/{berth}/lights`.\n"}})
	return serve(t, network.Network{Name: "tidewater", Title: "Tidewater", Proposals: tidewater},
		func() time.Time { return now }, func(store *sqlstore.Store) {
			if _, err := store.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: entries}); err != nil {
				t.Fatal(err)
			}
		}).ready(t)
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	l := withEndpoints(t)
	endpoints := func(pairs ...string) string {
		query := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			query.Set(pairs[i], pairs[i+1])
		}
		return "/api/v1/endpoints?" + query.Encode()
	}
	search := func(q string) string { return "/api/v1/search?q=" + url.QueryEscape(q) }
	record := l.id(t, catalog.KindEndpoint, "api/2/harbour.yaml#/v2/berths/{berth}/lights PUT")
	for _, q := range []question{
		{name: "all", target: endpoints("limit", "100"), want: fields{"total": 13, "items.0.title": "GET /v2/berths",
			"apis.*.name": "Gate,Harbour API", "apis.*.endpoints": "1,12"}},
		{name: "an API", target: endpoints("api", "gate"), want: fields{"total": 1, "items.0.purpose": "Open the gate"}},
		{name: "a method", target: endpoints("method", "delete"), want: fields{"total": 2,
			"items.0.state": "deprecated", "items.0.method": "DELETE",
			"items.0.address": "/api/harbour/v2/berths/{berth}"}},
		{name: "a path", target: endpoints("path", "/tides/", "limit", "1"), want: fields{"total": 2,
			"items.0.purpose": "Tells when the water is high.", "items.0.line": 17}},
		{name: "nothing", target: endpoints("api", "Whale API"), want: fields{"total": 0}},
		{name: "what it does", target: endpoints("q", "how do I get a place for my ship"), want: fields{
			"items.0.title": "POST /v2/berths", "items.0.api": "Harbour API"}},
		{name: "several descriptions of one", target: endpoints("q", "switch lights"), want: fields{
			"items.0.key": "api/2/harbour.yaml#/v2/berths/{berth}/lights PUT"}},
		{name: "what it does, by a method", target: endpoints("q", "berth", "method", "GET", "path", "{berth}"),
			want: fields{"total": 1, "items.*.title": "GET /v2/berths/{berth}"}},
		{name: "no method", target: endpoints("method", "fetch"), status: 400, message: "method must be one of"},
		{name: "its text", target: "/api/v1/docs/" + record, tool: "get_doc", args: `{"id":"` + record + `"}`,
			check: func(t *testing.T, answer any) {
				content, _ := at(answer, "content")
				for _, want := range []string{"`PUT /api/harbour/v2/berths/{berth}/lights`",
					"| `berth` | path, required | integer | Its number. |", "They are as wanted."} {
					if !strings.Contains(content.(string), want) {
						t.Errorf("no %q in %s", want, content)
					}
				}
			}},
		{name: "by method and path", target: search("POST /v2/berths"), tool: "search",
			args: `{"query":"POST /v2/berths"}`, want: fields{"items.0.title": "POST /v2/berths"}},
		{name: "by another method", target: search("get /v2/berths"), want: fields{"items.0.title": "GET /v2/berths"}},
		{name: "by path", target: search("/v2/berths/{berth}/lights"),
			want: fields{"items.0.title": "PUT /v2/berths/{berth}/lights"}},
		{name: "by a shorter path", target: search("DELETE /v2/berths/{berth}"),
			want: fields{"items.0.title": "DELETE /v2/berths/{berth}"}},
		{name: "with a value", target: search("PUT /v2/berths/17/lights?now=true"),
			want: fields{"items.0.title": "PUT /v2/berths/{berth}/lights"}},
		{name: "below its server", target: search("/api/harbour/v2/tides/forecast"),
			want: fields{"items.0.title": "GET /v2/tides/forecast"}},
		{name: "by its id", target: search("listBerths"), want: fields{"items.0.title": "GET /v2/berths"}},
		{name: "among endpoints", tool: "search", args: `{"query":"kind:endpoint ships"}`,
			want: fields{"items.0.kind": "endpoint"}},
		{name: "a question to everything", target: search("how do I reserve a berth for a ship?"), want: fields{
			"items.0.key": "berths.md"}},
	} {
		t.Run(q.name, func(t *testing.T) { l.ask(t, q, coverage{}) })
	}
	t.Run("pages", func(t *testing.T) {
		for target, wants := range map[string][]string{
			"/endpoints":                        {"<code>POST /v2/berths</code>", "Reserve a berth for a ship", "Gate"},
			"/endpoints?q=lights":               {"<code>PUT /v2/berths/{berth}/lights</code>"},
			"/endpoints?method=DELETE":          {"<code>DELETE /v2/berths/{berth}</code>", "deprecated"},
			"/endpoints/" + record:              {"<code>PUT /api/harbour/v2/berths/{berth}/lights</code>", "Its number.", "harbour.yaml#L12"},
			"/?q=lights&type=doc&kind=endpoint": {"API endpoint"},
		} {
			w := visit(l.public, target)
			for _, want := range wants {
				if w.Code != 200 || !strings.Contains(w.Body.String(), want) {
					t.Errorf("%s: %d, no %q", target, w.Code, want)
				}
			}
		}
	})
}
