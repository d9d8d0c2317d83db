package endpoint_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest/endpoint"
	"almanac/testing/editiontest"
)

// file reads a file of testdata.
func file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// entries reads a description as the file harbour/NAME.
func entries(t testing.TB, name, text string) []catalog.Entry {
	t.Helper()
	api, err := endpoint.Read(endpoint.Input{Path: "harbour/" + name, Text: text})
	if err != nil || len(api.Notes) > 0 {
		t.Fatal(err, api.Notes)
	}
	all, err := api.Entries(endpoint.File{Path: "harbour/" + name, Former: []string{"harbour/old.yaml"},
		URL: "https://forge.example/harbour/" + name, Container: "harbour", Commit: "c0ffee"})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestADescriptionIsItsOperations(t *testing.T) {
	all := entries(t, "harbour.yaml", file(t, "harbour.yaml"))
	var titles []string
	for _, e := range all {
		titles = append(titles, fmt.Sprintf("%s: %s [%s] %s", e.Record.Title, e.Record.Summary, e.Record.State, e.Record.URL))
	}
	if diff := cmp.Diff([]string{
		"GET /v1/berths: List the berths of the harbour [] https://forge.example/harbour/harbour.yaml#L12",
		"POST /v1/berths: Adds a berth. [] https://forge.example/harbour/harbour.yaml#L39",
		"GET /v1/berths/{berth}/bookings: Get berth bookings [deprecated] https://forge.example/harbour/harbour.yaml#L63",
	}, titles); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	list, bookings := all[0].Record, all[2].Record
	want := catalog.Record{
		Kind: catalog.KindEndpoint, Key: "harbour/harbour.yaml#/v1/berths GET", Title: "GET /v1/berths",
		URL: list.URL, Path: "harbour/harbour.yaml", Container: "harbour", Category: "Harbour API",
		Summary: "List the berths of the harbour", Tags: []string{"method:get", "label:berths"}, Data: list.Data,
		Body: "`GET /api/harbour/v1/berths`\n\nList the berths of the harbour\n\n" +
			"Lists the berths of the harbour, free ones first.\n\nA berth that is being dredged is left out.\n\n" +
			"## Parameters\n\n| name | in | type | meaning |\n|---|---|---|---|\n| `limit` | query | integer |  |\n" +
			"| `free` | query | boolean | Only those that are free \\| now. |\n\n" +
			"## Responses\n\n| status | body | meaning |\n|---|---|---|\n" +
			"| 200 | application/json: array of Berth | The berths. |\n| default |  | It failed. |\n\n" +
			"## About\n\noperation `listBerths`; API: Harbour API; tags: berths; " +
			"served at https://north.harbour.example/api/harbour\n",
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"harbour/old.yaml#/v1/berths GET"}, all[0].Aliases); diff != "" {
		t.Errorf("aliases (-want +got)\n%s", diff)
	}
	added, err := catalog.Decode[catalog.APIEndpoint](all[1].Record)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(catalog.APIEndpoint{
		Method: "POST", Route: "/v1/berths", Base: "/api/harbour", Servers: []string{"https://north.harbour.example/api/harbour"},
		Version: "1.4.0", Groups: []string{"berths", "admin"}, Line: 39, Commit: "c0ffee",
		Parameters: []catalog.APIParameter{
			{Name: "number", In: "body", Required: true, Type: "integer (int32)", Description: "As painted on the quay."},
			{Name: "neighbours", In: "body", Type: "array of Berth"}, {Name: "depth", In: "body", Type: "Depth or null"},
		},
		Request: &catalog.APIContent{Required: true, Media: []string{"application/json"}, Type: "Berth",
			Description: "The new berth."},
		Responses: []catalog.APIContent{{Status: "201", Description: "It is there."}},
	}, added); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	booked, err := catalog.Decode[catalog.APIEndpoint](bookings)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]catalog.APIParameter{
		{Name: "berth", In: "path", Required: true, Type: "integer (int32)", Description: "The berth's number."},
		{Name: "trace", In: "header", Required: true, Type: "string: on, off"},
	}, booked.Parameters); diff != "" {
		t.Errorf("parameters of path and operation (-want +got)\n%s", diff)
	}
}

// TestSwagger reads the older format, from JSON with a byte-order mark, tabs and escapes
// that YAML does not have.
func TestSwagger(t *testing.T) {
	all := entries(t, "pilots.json", "\ufeff"+file(t, "pilots.json"))
	got, err := catalog.Decode[catalog.APIEndpoint](all[0].Record)
	if err != nil {
		t.Fatal(err)
	}
	json := []string{"application/json"}
	if diff := cmp.Diff(catalog.APIEndpoint{
		Method: "PUT", Route: "/pilots/{id}", Base: "/p", Servers: []string{"https://pilots.example/p"}, Version: "2",
		Operation: "putPilot", Line: 11, Commit: "c0ffee",
		Parameters: []catalog.APIParameter{{Name: "id", In: "path", Required: true, Type: "string"},
			{Name: "name", In: "body", Required: true, Type: "string", Description: "In full."},
			{Name: "licence", In: "body", Type: "string"}},
		Request:   &catalog.APIContent{Required: true, Media: json, Type: "Pilot"},
		Responses: []catalog.APIContent{{Status: "200", Media: json, Type: "Pilot", Description: "Kept."}},
	}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if all[0].Record.Category != "Pilots 🚢" {
		t.Errorf("the API is called %q", all[0].Record.Category)
	}
}

// ugly are descriptions as people and programs write them, with what is read of them:
// operations and notes.
var ugly = map[string]struct{ text, want string }{
	"a schema within itself": {`openapi: 3.1.0
paths:
  /a: {post: {requestBody: {content: {text/plain: {schema: {$ref: "#/s"}}}}}}
s: {properties: {s: {$ref: "#/s"}, t: {type: [string, "null"]}}, allOf: [{$ref: "#/s"}]}
`, "POST /a"},
	"a reference to itself": {"openapi: 3.0.0\npaths:\n  /a: {$ref: '#/paths/~1a'}\n  /b: {get: {}}\n",
		"GET /b; line 3 of ugly.yaml: the reference leads to itself"},
	"a reference to nothing": {"openapi: 3.0.0\npaths:\n  /a:\n    get: {parameters: [{$ref: '#/no/where'}]}\n",
		`GET /a; line 4 of ugly.yaml: the reference "#/no/where" leads nowhere`},
	"a path that is another, and more": {`openapi: 3.1.0
paths:
  /a: {$ref: "#/items/0", put: {}}
items: [{get: {}, put: {summary: the other}}]
`, "PUT /a; GET /a; line 4: PUT /a is there twice; the first is read"},
	"extensions": {"openapi: 3.0.0\nx-a: 1\npaths:\n  x-b: {get: {}}\n  /a: {x-c: 1, get: {x-d: [1]}, servers: []}\n",
		"GET /a"},
	"anchors and merges": {`openapi: 3.0.0
shared: &shared {parameters: [{name: q, in: query}], get: &get {summary: A}}
paths:
  /a: {<<: *shared, put: *get}
  /b: *shared
`, "PUT /a; GET /a; GET /b"},
	"keys that come twice": {"openapi: 3.0.0\npaths:\n  /a:\n    get: {}\n    get: {}\n  /a:\n    put: {}\n",
		"GET /a; PUT /a; line 5: GET /a is there twice; the first is read"},
	"nothing where something should be": {`openapi: 3.0.0
info:
paths:
  /a: null
  /b: [get]
  /c: {get: null, put: 1, post: {responses: [], parameters: {}, tags: x, summary: null, servers: [1, {}]}}
  7: {get: {}}
`, "POST /c"},
	"all of it indented": {"  openapi: 3.0.0\n  paths:\n    /a:\n      get: {}\n", "GET /a"},
	"one line":           {`{"info":{},"openapi":"3.1.0","paths":{"/a":{"get":{}}}}`, "GET /a"},
	"merged into itself": {"openapi: 3.0.0\npaths: &p\n  /a: {get: {}}\n  <<: *p\n", "GET /a"},
	"callbacks and webhooks": {"openapi: 3.1.0\nwebhooks: {a: {post: {}}}\npaths:\n  /a: {post: {callbacks: {b: " +
		"{'{$url}': {post: {}}}}}}\n", "POST /a"},
	"a schema that branches into itself": {"openapi: 3.0.0\npaths:\n  /a:\n    get:\n      parameters:\n" +
		"      - &p {name: q, in: query, schema: &s {oneOf: [*s, *s, *s, *s, *s, *s, *s, *s]}}\n" +
		strings.Repeat("      - *p\n", 60), "GET /a; it refers to itself too often; some types are left out"},
	"without a path":    {"openapi: 3.1.0\ninfo: {title: A}\n", ""},
	"no description":    {"apiVersion: 1\nkind: swagger\n", endpoint.ErrOther.Error()},
	"another format":    {"asyncapi: 3.0.0\nchannels: {}\n", endpoint.ErrOther.Error()},
	"a list":            {"- openapi: 3.0.0\n", endpoint.ErrOther.Error()},
	"nothing":           {"", "is empty"},
	"no YAML":           {"openapi: 3.0.0\npaths: {\n", "yaml: line 2: did not find expected node content"},
	"control character": {"openapi: 3.0.0\ntitle: \x01\n", "yaml: control characters are not allowed"},
	"too large":         {"openapi: 3.0.0\nx: [" + strings.Repeat(",", 600_000) + "]", "has more than 600000 values"},
}

func TestUglyDescriptions(t *testing.T) {
	for name, c := range ugly {
		t.Run(name, func(t *testing.T) {
			api, err := endpoint.Read(endpoint.Input{Path: "ugly.yaml", Text: c.text})
			var got []string
			for _, o := range api.Operations {
				got = append(got, o.Method+" "+o.Route)
			}
			got = append(got, api.Notes...)
			if err != nil {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(c.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestOtherFiles reads what a description refers to in files beside it, and nothing else.
func TestOtherFiles(t *testing.T) {
	beside := map[string]string{
		"api/common/paths.yaml": "paths:\n  /ready:\n    get: {summary: Whether it is ready, responses: {200: " +
			"{$ref: 'answers.yaml#/Ready'}}}\n",
		"api/common/answers.yaml": "Ready: {description: It is.}\n",
		"api/common/broken.yaml":  "{",
	}
	var asked []string
	api, err := endpoint.Read(endpoint.Input{Path: "api/harbour/openapi.yaml", Text: `openapi: 3.0.0
paths:
  /ready: {$ref: "../common/paths.yaml#/paths/~1ready"}
  /broken: {$ref: ../common/broken.yaml}
  /gone: {$ref: gone.yaml}
  /elsewhere: {$ref: "https://harbour.example/openapi.yaml#/paths/~1a"}
`, Resolve: func(name string) (string, bool) {
		asked = append(asked, name)
		text, ok := beside[name]
		return text, ok
	}})
	if err != nil || len(api.Operations) != 1 || len(api.Notes) != 3 {
		t.Fatal(api, err)
	}
	if o := api.Operations[0]; o.Route != "/ready" || o.Line != 3 || o.Summary != "Whether it is ready" ||
		o.Responses[0].Description != "It is." {
		t.Errorf("%+v", o)
	}
	if diff := cmp.Diff([]string{"api/common/paths.yaml", "api/common/answers.yaml", "api/common/broken.yaml",
		"api/harbour/gone.yaml"}, asked); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
}

func TestLikely(t *testing.T) {
	for text, want := range map[string]bool{
		"openapi: 3.0.0": true, "# ours\n  openapi: '3.1.0'\n": true, `{"swagger" : "2.0"}`: true,
		`{"info":{},"openapi":"3.0"}`: true, "openapi: 1.2": false, "myopenapi: 3.0": false, "swagger-ui: 3": false,
		"": false,
	} {
		if got := endpoint.Likely(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestEdition(t *testing.T) {
	var out []string
	for _, name := range []string{"harbour.yaml", "pilots.json"} {
		out = append(out, fmt.Sprintf("%+v", entries(t, name, file(t, name))))
	}
	editiontest.Check(t, out...)
}

// FuzzRead: whatever a file has, reading it ends, and its records are whole.
func FuzzRead(f *testing.F) {
	f.Add(file(f, "harbour.yaml"))
	f.Add(file(f, "pilots.json"))
	for _, c := range ugly {
		if len(c.text) < 10_000 {
			f.Add(c.text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		api, err := endpoint.Read(endpoint.Input{Path: "a/b.yaml", Text: text,
			Resolve: func(string) (string, bool) { return text, true }})
		if err != nil {
			if len(api.Operations) > 0 || errors.Is(err, endpoint.ErrOther) && strings.HasPrefix(text, "openapi: 3.") {
				t.Fatal(api, err)
			}
			return
		}
		entries, err := api.Entries(endpoint.File{Path: "a/b.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, e := range entries {
			d, err := catalog.Decode[catalog.APIEndpoint](e.Record)
			if err != nil || d.Line < 1 || e.Record.Title != d.Method+" "+d.Route || e.Record.Body == "" {
				t.Errorf("%v: %+v", err, e.Record)
			}
			if seen[e.Record.Key] {
				t.Errorf("%s is there twice", e.Record.Key)
			}
			seen[e.Record.Key] = true
		}
	})
}
