package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/catalog"
	"almanac/testing/networktest"
	"almanac/testing/race"
)

// TestEverythingAnswers walks OpenAPI and the tool list of running servers: it
// calls every operation on every interface with arguments from other answers.
// testdata/walk.json has a row for each; an operation without one fails. On the
// sample, answers are not empty. On other networks they may be, but are no errors.
func TestEverythingAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers; not with -short")
	}
	race.Skip(t)
	settings := []string{"ALMANAC_LIMIT_REST=0", "ALMANAC_LIMIT_MCP=0", "ALMANAC_SERVER_TRUSTED_PROXIES=127.0.0.1"}
	t.Run("sample", func(t *testing.T) {
		t.Parallel()
		walkOver(t, environ(t.TempDir(), settings...), "sample", true)
	})
	t.Run("another prefix", func(t *testing.T) {
		t.Parallel()
		_, file := networktest.LIP(t)
		walkOver(t, environ(t.TempDir(), settings...), file, false)
	})
	t.Run("corpus", func(t *testing.T) {
		t.Parallel()
		walkOver(t, environ(t.TempDir(), append(settings, "ALMANAC_CORPUS="+sharedCorpus(t))...), "corpus", false)
	})
}

func walkOver(t *testing.T, env []string, network string, full bool) {
	s := start(t, env, "--network", network, "--data", t.TempDir())
	s.ready(t)
	w := newWalk(t, s, full)
	// What visitors leave: a search of so many that it is public, which finds nothing,
	// and a violation of the policy.
	for i := range catalog.PublicClients {
		s.get(t, "/api/v1/search?q=xyzzy", "X-Forwarded-For", fmt.Sprintf("198.51.%d.1", i))
	}
	w.send(t, http.MethodPost, "/csp-reports",
		[]byte(`[{"type":"csp-violation","body":{"effectiveDirective":"img-src","blockedURL":"https://example.net/x.png"}}]`))
	for _, name := range w.names() {
		if _, ok := w.rows[name]; !ok {
			t.Errorf("no row of testdata/walk.json calls %s", name)
			continue
		}
		t.Run(name, func(t *testing.T) { w.both(t, name) })
	}
	for name, e := range w.paths {
		t.Run("example of "+name, func(t *testing.T) { w.example(t, e) })
	}
	for name, row := range w.rows {
		if called := row.called(name); w.paths[called].path == "" && w.tools[called] == nil {
			t.Errorf("testdata/walk.json calls %s, which does not exist", called)
		}
	}
}

// walk is a walk over a server.
type walk struct {
	*server
	sent    []request                       // in order
	full    bool                            // answers must not be empty
	rows    map[string]walkRow              // by operation; those with Call are only sources of arguments
	paths   map[string]endpoint             // by operation id
	tools   map[string]*jsonschema.Resolved // output schemas, by name
	answers map[string]any                  // by row
	open    map[string]bool                 // rows whose answer is being found
	pages   map[string]bool                 // pages that were read
}

// request is one that was sent.
type request struct {
	method, target string
	body           []byte
}

func newWalk(t *testing.T, s *server, full bool) *walk {
	t.Helper()
	w := &walk{server: s, full: full, answers: map[string]any{}, pages: map[string]bool{}, open: map[string]bool{}}
	w.describe(t)
	raw, err := os.ReadFile(filepath.Join("testdata", "walk.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &w.rows); err != nil {
		t.Fatal(err)
	}
	return w
}

// names are those of all operations.
func (w *walk) names() []string {
	all := maps.Clone(w.tools)
	for name := range w.paths {
		all[name] = nil
	}
	return slices.Sorted(maps.Keys(all))
}

// walkRow says how to call an operation. An argument "<row path>" is taken from
// the answer of another row; * in the path stands for one index after the other
// until the answer is full.
type walkRow struct {
	Call string         `json:"call"`
	Args map[string]any `json:"args"` // by the tool's names
	Full string         `json:"full"` // what must not be empty; default items
}

func (r walkRow) called(name string) string {
	if r.Call != "" {
		return r.Call
	}
	return name
}

// endpoint is an operation of OpenAPI.
type endpoint struct {
	method, path string
	parameters   []parameter
	answer       *jsonschema.Resolved // nil: not JSON
}

type parameter struct {
	Name, In string
	Example  any
}

// describe reads OpenAPI and the tool list.
func (w *walk) describe(t *testing.T) {
	t.Helper()
	type media struct {
		Schema json.RawMessage `json:"schema"`
	}
	doc := getJSON[struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Parameters  []parameter
			Responses   map[string]struct{ Content map[string]media }
		}
		Components struct{ Schemas map[string]json.RawMessage }
	}](t, w.server, "/api/v1/openapi.json")
	resolve := func(schema json.RawMessage) *jsonschema.Resolved {
		t.Helper()
		whole, err := json.Marshal(map[string]any{"$defs": doc.Components.Schemas, "allOf": []any{schema}})
		if err != nil {
			t.Fatal(err)
		}
		return resolved(t, bytes.ReplaceAll(whole, []byte("#/components/schemas/"), []byte("#/$defs/")))
	}
	w.paths = map[string]endpoint{}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			e := endpoint{strings.ToUpper(method), path, o.Parameters, nil}
			if m, ok := o.Responses["200"].Content["application/json"]; ok && len(m.Schema) > 0 {
				e.answer = resolve(m.Schema)
			}
			w.paths[o.OperationID] = e // its second form by POST has a name of its own
		}
	}
	w.tools = map[string]*jsonschema.Resolved{}
	var list struct {
		Tools []struct {
			Name         string
			OutputSchema json.RawMessage `json:"outputSchema"`
		}
	}
	w.rpc(t, "?toolsets=all&schemas=1", "tools/list", map[string]any{}, &list)
	for _, tool := range list.Tools {
		w.tools[tool.Name] = resolved(t, tool.OutputSchema)
	}
	w.rpc(t, "?toolsets=extras", "tools/list", map[string]any{}, &list)
	for _, tool := range list.Tools { // they are called on request only
		delete(w.tools, tool.Name)
	}
}

func resolved(t *testing.T, schema []byte) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rpc sends a request to the tool endpoint.
func (w *walk) rpc(t *testing.T, query, method string, params, result any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	answer := struct {
		Result any
		Error  json.RawMessage
	}{Result: result}
	status, raw := w.send(t, http.MethodPost, "/mcp"+query, body)
	if err := json.Unmarshal(raw, &answer); err != nil || status != http.StatusOK || answer.Error != nil {
		t.Fatalf("%s: %d %v %.300s", method, status, err, raw)
	}
}

func (r request) to(ctx context.Context, base string) (*http.Request, error) {
	out, err := http.NewRequestWithContext(ctx, r.method, base+r.target, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	out.Header.Set("Content-Type", "application/json")
	if r.target == "/csp-reports" {
		out.Header.Set("Content-Type", "application/reports+json")
	}
	out.Header.Set("Accept", "application/json, text/event-stream, text/calendar, text/html;q=.1")
	return out, nil
}

func (w *walk) send(t *testing.T, method, target string, body []byte) (int, []byte) {
	t.Helper()
	sent := request{method, target, body}
	w.sent = append(w.sent, sent)
	r, err := sent.to(t.Context(), w.base)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, raw
}

// both calls an operation on every interface that serves it.
func (w *walk) both(t *testing.T, name string) {
	answer, args, ok := w.find(t, name)
	if !ok {
		if w.full {
			t.Error("the answers that its arguments are taken from have none")
		}
		return
	}
	full := w.rows[name].fullPath()
	if w.full && !filled(answer, full) {
		t.Errorf("%v: %s is empty: %.300v", args, full, answer)
	}
	w.consistent(t, answer)
	if w.full && w.tools[name] != nil {
		w.widens(t, name, args)
	}
	if e := w.paths[name]; e.path != "" && w.tools[name] != nil { // find used the tool
		rest := w.rest(t, e, args)
		w.consistent(t, rest)
		agree(t, "", answer, rest)
	}
}

func (r walkRow) fullPath() string {
	if r.Full == "" {
		return "items"
	}
	return r.Full
}

// find returns a full answer of a row and the arguments that led to it; if there
// is none, the last answer. It is not ok if there are no arguments to ask with.
func (w *walk) find(t *testing.T, name string) (answer any, args map[string]any, ok bool) {
	t.Helper()
	row := w.rows[name]
	if w.open[name] {
		t.Fatalf("the arguments of %s are taken from its own answer", name)
	}
	w.open[name] = true
	defer delete(w.open, name)
	for _, args = range w.arguments(t, row.Args) {
		answer, ok = w.ask(t, row.called(name), args), true
		if filled(answer, row.fullPath()) {
			break
		}
	}
	w.answers[name] = answer
	return answer, args, ok
}

func (w *walk) ask(t *testing.T, operation string, args map[string]any) any {
	t.Helper()
	schema := w.tools[operation]
	if schema == nil {
		return w.rest(t, w.paths[operation], args)
	}
	var result struct {
		IsError           bool
		StructuredContent any
		Content           []struct{ Text string }
	}
	w.rpc(t, "", "tools/call", map[string]any{"name": operation, "arguments": args}, &result)
	if result.IsError {
		t.Fatalf("%s %v: %v", operation, args, result.Content)
	}
	if err := schema.Validate(result.StructuredContent); err != nil {
		t.Errorf("%s %v: %v", operation, args, err)
	}
	return result.StructuredContent
}

// restNames are the parameters of REST with another name than the tool's.
var restNames = map[string]string{"q": "query"}

func (w *walk) rest(t *testing.T, e endpoint, args map[string]any) any {
	t.Helper()
	target, query := e.path, url.Values{}
	var body []byte
	if e.method == http.MethodPost {
		var err error
		if body, err = json.Marshal(args); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range e.parameters {
		v, ok := args[p.Name]
		if !ok {
			v, ok = args[restNames[p.Name]]
		}
		switch {
		case p.In == "path":
			if !ok { // its name differs from the tool's, which has only one
				for _, v = range args {
				}
			}
			target = strings.ReplaceAll(target, "{"+p.Name+"}", url.PathEscape(fmt.Sprint(v)))
		case ok:
			if many, isList := v.([]any); isList {
				texts := make([]string, len(many))
				for i, one := range many {
					texts[i] = fmt.Sprint(one)
				}
				v = strings.Join(texts, ",")
			}
			query.Set(p.Name, fmt.Sprint(v))
		}
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	status, raw := w.send(t, e.method, target, body)
	if status != http.StatusOK {
		t.Fatalf("%s %s: %d %.300s", e.method, target, status, raw)
	}
	if e.answer == nil {
		return map[string]any{"items": []any{string(raw)}}
	}
	var answer any
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatal(err)
	}
	if err := e.answer.Validate(answer); err != nil {
		t.Errorf("%s %s: %v", e.method, target, err)
	}
	return answer
}

// example calls an endpoint with the examples of its parameters, which the
// sample must have and which lead to an answer on it.
func (w *walk) example(t *testing.T, e endpoint) {
	args := map[string]any{}
	for _, p := range e.parameters {
		if p.Example != nil {
			args[p.Name] = p.Example
		}
	}
	if len(e.parameters) == 0 || !w.full && len(args) == 0 {
		return
	}
	if len(args) == 0 {
		t.Error("there is no example: add one to the sample's network file")
		return
	}
	if e.method == http.MethodGet && w.full {
		w.rest(t, e, args)
	}
}

// arguments are those of a row with references replaced, in all ways.
func (w *walk) arguments(t *testing.T, args map[string]any) []map[string]any {
	t.Helper()
	out := []map[string]any{{}}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		var next []map[string]any
		for _, v := range w.values(t, args[name]) {
			for _, a := range out {
				a = maps.Clone(a)
				a[name] = v
				next = append(next, a)
			}
		}
		out = next
	}
	return out
}

func (w *walk) values(t *testing.T, v any) []any {
	t.Helper()
	if list, ok := v.([]any); ok {
		var out []any
		for _, one := range list {
			if found := w.values(t, one); len(found) > 0 {
				out = append(out, found[0])
			}
		}
		return []any{out}
	}
	text, ok := v.(string)
	ref, isRef := strings.CutPrefix(text, "<")
	if !ok || !isRef {
		return []any{v}
	}
	row, path, _ := strings.Cut(strings.TrimSuffix(ref, ">"), " ")
	if _, asked := w.answers[row]; !asked {
		w.find(t, row)
	}
	return at(w.answers[row], path)
}

// at returns what a path names: one value, or with * in it any number.
func at(v any, path string) []any {
	if path == "" {
		return []any{v}
	}
	head, rest, _ := strings.Cut(path, ".")
	switch v := v.(type) {
	case map[string]any:
		return at(v[head], rest)
	case []any:
		var out []any
		for i, e := range v {
			if head == "*" || head == strconv.Itoa(i) {
				out = append(out, at(e, rest)...)
			}
		}
		return out
	}
	return nil
}

// filled reports whether a path of an answer leads to something.
func filled(answer any, path string) bool {
	return slices.ContainsFunc(at(answer, path), func(v any) bool {
		switch v := v.(type) {
		case nil:
			return false
		case []any:
			return len(v) > 0
		case map[string]any:
			return len(v) > 0
		default:
			return v != "" && v != 0.0 && v != false
		}
	})
}

// consistent checks what every answer promises: totals, order of scores and
// weights, distinct ids, addresses, pages that can be read.
func (w *walk) consistent(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		falls(t, v, "score")
		for _, e := range v {
			w.consistent(t, e)
		}
	case map[string]any:
		if items, ok := v["items"].([]any); ok {
			if total, ok := v["total"].(float64); ok && int(total) < len(items) {
				t.Errorf("%d items of %v", len(items), total)
			}
		}
		if evidence, ok := v["evidence"].([]any); ok && len(evidence) > 0 {
			falls(t, evidence, "weight")
			if v["method"] == "" {
				t.Errorf("evidence without a method: %.300v", v)
			}
		}
		for _, name := range []string{"url", "page"} {
			if address, ok := v[name].(string); ok && !strings.HasPrefix(address, "http") {
				t.Errorf("%s %q is not an address", name, address)
			}
		}
		if page, ok := v["page"].(string); ok && !w.pages[page] {
			w.pages[page] = true
			if status, _, body := do(t, http.MethodGet, page); status != http.StatusOK {
				t.Errorf("page %s: %d %.200s", page, status, body)
			}
		}
		for _, e := range v {
			w.consistent(t, e)
		}
	}
}

// falls checks that a number never rises from one item to the next.
func falls(t *testing.T, items []any, name string) {
	t.Helper()
	for i := 1; i < len(items); i++ {
		before, after := at(items[i-1], name), at(items[i], name)
		if len(before) == 1 && len(after) == 1 && before[0] != nil && after[0] != nil &&
			before[0].(float64) < after[0].(float64) {
			t.Errorf("%s rises from %v to %v", name, before[0], after[0])
		}
	}
}

// passing are fields that differ from one call to the next.
var passing = []string{"took_ms", "as_of", "age_seconds"}

// forTools are fields that REST has in another form: how to get more, copies.
var forTools = []string{"hint", "also"}

// agree checks that everything a tool says REST says too.
func agree(t *testing.T, path string, tool, rest any) {
	t.Helper()
	switch tool := tool.(type) {
	case map[string]any:
		other, ok := rest.(map[string]any)
		if !ok {
			t.Errorf("%s: the tool has %.200v, REST %.200v", path, tool, rest)
			return
		}
		for name, v := range tool {
			if _, both := other[name]; !slices.Contains(passing, name) && (both || !slices.Contains(forTools, name)) {
				agree(t, path+"."+name, v, other[name])
			}
		}
	case []any:
		other, ok := rest.([]any)
		if !ok || len(other) != len(tool) {
			t.Errorf("%s: the tool has %d, REST %d", path, len(tool), len(other))
			return
		}
		for i, v := range tool {
			agree(t, fmt.Sprintf("%s.%d", path, i), v, other[i])
		}
	default:
		if tool != rest {
			t.Errorf("%s: the tool has %.200v, REST %.200v", path, tool, rest)
		}
	}
}
