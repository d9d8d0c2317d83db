package api_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/ulule/limiter/v3"
	"github.com/ulule/limiter/v3/drivers/store/memory"

	"almanac/api"
	"almanac/api/kb"
	"almanac/api/limit"
	"almanac/api/mcp"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/api/server"
	"almanac/api/tally"
	"almanac/api/web"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/postgres"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/embed/static"
	"almanac/embed/wordpiece"
	"almanac/retrieval"
	"almanac/retrieval/index"
	keywordembedded "almanac/retrieval/keyword/embedded"
	"almanac/retrieval/ranking"
	vectorembedded "almanac/retrieval/vector/embedded"
	"almanac/testing/catalogfile"
	"almanac/testing/optest"
	"almanac/testing/postgrestest"
)

const publicURL = "https://kb.example"

var model = sync.OnceValues(static.New)

// tidewater is the invented network, written as the API's own words have it;
// lagoon is the same with another prefix, padding and status words.
var (
	tidewater = network.Proposals{
		Prefix: "CIP", StatusMap: map[string]string{"Approved": "Review", "Active": "Final"}, Default: "Draft",
	}
	lagoon = network.Proposals{
		Prefix: "LIP", Digits: 3, Statuses: []string{"Draft", "Approved", "Active", "Withdrawn", "Parked"},
		StatusMap: map[string]string{"Approved": "Review", "Active": "Final", "Parked": "Withdrawn"}, Default: "Draft",
	}
)

var padded = regexp.MustCompile(`\b0(\d{3})([^-\d]|$)`)

// inLagoon writes what the tests say of tidewater as lagoon spells it.
func inLagoon(s string) string {
	return padded.ReplaceAllString(strings.ReplaceAll(s, "CIP-", "LIP-"), "$1$2")
}

// library is a knowledge base on the invented records with a real engine, and
// the operations and handlers over it.
type library struct {
	spell    func(string) string // of ids, in questions and records
	store    *sqlstore.Store
	follower *index.Follower
	base     kb.Base
	heads    *atomic.Int64 // records that were read by one reference
	ops      []op.Operation
	public   http.Handler
}

// open fills a knowledge base of tidewater; its index is made complete by
// ready.
func open(t testing.TB) *library {
	t.Helper()
	return openAs(t, tidewater, func(s string) string { return s })
}

// openAs fills a knowledge base whose proposals are written so.
func openAs(t testing.TB, proposals network.Proposals, spell func(string) string) *library {
	t.Helper()
	n := network.Network{
		Name: "tidewater", Title: "Tidewater", Description: "An invented harbour.", Proposals: proposals,
		Descriptions: map[string]string{"doc": "Pilot books"},
	}
	l := serve(t, n, func() time.Time { return now }, func(store *sqlstore.Store) { fill(t, store, spell) })
	l.spell = spell
	return l
}

// openCatalog opens an empty catalog in a file, or on PostgreSQL for `make postgres`.
func openCatalog(t testing.TB, clock func() time.Time) (*sqlstore.Store, error) {
	t.Helper()
	if os.Getenv("ALMANAC_TEST_CATALOG") == "postgres" {
		return postgres.Open(t.Context(), postgres.Config{URL: postgrestest.Database(t), Now: clock})
	}
	return sqlite.Open(t.Context(), sqlite.Config{Path: catalogfile.Empty(t), Now: clock})
}

// serve makes a published knowledge base of a network over a catalog that fill fills.
func serve(t testing.TB, n network.Network, clock func() time.Time, fill func(*sqlstore.Store)) *library {
	t.Helper()
	return serveAs(t, n, clock, server.Reach{Listen: "127.0.0.1:8080", PublicURL: publicURL}, fill)
}

// serveAs makes one that is reached so.
func serveAs(
	t testing.TB, n network.Network, clock func() time.Time, reach server.Reach, fill func(*sqlstore.Store),
) *library {
	t.Helper()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	store, err := openCatalog(t, clock)
	must(err)
	t.Cleanup(func() { store.Close() })
	fill(store)
	embedder, err := model()
	must(err)
	words, err := keywordembedded.Open(keywordembedded.Config{Path: filepath.Join(dir, "keyword"), Log: log})
	must(err)
	vectors, err := vectorembedded.Open(vectorembedded.Config{
		Path: filepath.Join(dir, "vector"), Dimensions: embedder.Dimensions(), Model: embedder.Model(), Log: log,
	})
	must(err)
	generation, err := store.OpenGeneration(t.Context(), index.Fingerprint(embedder.Model()))
	must(err)
	engines := index.Engines{Keyword: words, Vector: vectors, Embedder: embedder}
	f := index.New(index.Config{Store: store, Generation: generation, Engines: engines, Now: clock,
		Log: log})
	must(f.Load(t.Context()))
	p, err := ranking.Load(ranking.DefaultName)
	must(err)
	engine, err := retrieval.New(retrieval.Config{
		Follower: f, Relevance: retrieval.Relevance{Profiles: []ranking.Profile{p}},
		Authority: n.Authority, IsWord: wordpiece.IsWord,
		Deadline: 10 * time.Second, Log: log,
	})
	must(err)
	var heads atomic.Int64
	counted := catalogfile.Around(store, func(op string, do func() error) error {
		if op == "head" {
			heads.Add(1)
		}
		return do()
	})
	b := kb.Base{Catalog: counted, Search: limit.NewSearcher(engine, limit.StandardSearches()), PublicURL: publicURL, Now: clock,
		Network: n}
	audience := server.NewAudience(reach, store, log)
	b.Tally, b.Published = tally.New(store, clock, log), audience.Published
	t.Cleanup(func() { b.Tally.Close() })
	l := &library{spell: func(s string) string { return s }, store: store, follower: f, base: b, heads: &heads,
		ops: api.Operations(b)}
	ready, down := api.Health(engine)
	serving := op.Serving{Operations: l.ops, Ready: ready}
	if len(n.Sources) > 0 {
		serving.Kinds = api.Kinds(b)
	}
	h, err := api.New(api.Config{
		Program: meta.Program{Serving: serving, Version: "test", Down: down},
		Site:    web.Site{Name: n.Title, About: n.Description, Proposals: n.Proposals, Items: l.base.Items, Now: clock},
		Offer:   mcp.Offer{Resources: api.ResourcesOf(b, l.ops)}, PublicURL: publicURL, AdminLoopback: true,
		Tally: b.Tally, Audience: audience,
		LimitStore: memory.NewStoreWithOptions(limiter.StoreOptions{}), // without a cleaner, whose goroutine would stay
	})
	must(err)
	l.public = h.Public
	return l
}

// ready completes the index.
func (l *library) ready(t testing.TB) *library {
	t.Helper()
	if _, err := l.follower.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.follower.MarkReady()
	return l
}

// record finds one of the invented records.
func (l *library) record(t *testing.T, kind catalog.Kind, key string) catalog.Record {
	t.Helper()
	r, err := l.store.Get(t.Context(), ref(kind, l.spell(key)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// id writes a record's id.
func (l *library) id(t *testing.T, kind catalog.Kind, key string) string {
	return strconv.FormatInt(l.record(t, kind, key).ID, 10)
}

// fields are expectations of an answer by path: "items.0.id", "items.#" is a
// length, "items.*.id" every one, joined by commas.
type fields map[string]any

// question is one request as a value, sent over REST (target) and as a tool
// (tool, args) if it has both.
type question struct {
	name           string
	target, body   string // a body makes it a POST
	tool, args     string
	status         int    // 0 = 200; of a tool, whether it is an error
	message        string // of the error, on both
	rest, toolSays string // of the error, on one
	want           fields
	check          func(t *testing.T, answer any)
}

// headsRead is how many records an answer may read so: one that has two names.
// What it lists is read by one call: under load a connection is waited for
// before each.
const headsRead = 2

// holdsHeads checks how many were read by one reference since there were before.
func (l *library) holdsHeads(t *testing.T, on string, before int64) {
	t.Helper()
	if n := l.heads.Load() - before; n > headsRead {
		t.Errorf("%s: it reads %d records one by one", on, n)
	}
}

// coverage remembers which operations have answered on which interface.
type coverage map[string]bool

func (l *library) ask(t *testing.T, q question, seen coverage) {
	t.Helper()
	if q.status == 0 {
		q.status = http.StatusOK
	}
	for _, text := range []*string{&q.target, &q.body, &q.args, &q.message, &q.rest, &q.toolSays} {
		*text = l.spell(*text)
	}
	if q.target != "" {
		l.askREST(t, q, seen)
	}
	if q.tool != "" {
		l.askTool(t, q, seen)
	}
}

func (l *library) askREST(t *testing.T, q question, seen coverage) {
	t.Helper()
	method := http.MethodGet
	if q.body != "" {
		method = http.MethodPost
	}
	before := l.heads.Load()
	w := do(l.public, method, q.target, q.body)
	l.holdsHeads(t, "REST", before)
	body := w.Body.Bytes()
	if w.Code != q.status || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		t.Fatalf("REST: %d %s, want %d: %.300s", w.Code, w.Header().Get("Content-Type"), q.status, body)
	}
	if w.Code != http.StatusOK {
		var e map[string]string
		if err := json.Unmarshal(body, &e); err != nil || len(e) != 1 || e["error"] == "" {
			t.Errorf("REST: an error is {\"error\": …}, got %s", body)
		}
		if !strings.Contains(e["error"], q.message) || !strings.Contains(e["error"], q.rest) {
			t.Errorf("REST: error %q, want %q %q", e["error"], q.message, q.rest)
		}
		return
	}
	o, ok := route(l.ops, method, q.target)
	if !ok {
		t.Fatalf("no operation serves %s", q.target)
	}
	seen["rest "+o.ID] = true
	if err := optest.CheckOutput(o, body); err != nil {
		t.Errorf("REST: the answer is not what the schema says: %v\n%.500s", err, body)
	}
	l.checkAnswer(t, "REST", body, q)
}

func (l *library) askTool(t *testing.T, q question, seen coverage) {
	t.Helper()
	args := q.args
	if args == "" {
		args = "{}"
	}
	before := l.heads.Load()
	answer, isError := call(t, l.public, q.tool, args)
	l.holdsHeads(t, "tool", before)
	if isError != (q.status != http.StatusOK) {
		t.Fatalf("tool: error %v: %.300s", isError, answer)
	}
	if isError {
		if !strings.Contains(answer, q.message) || !strings.Contains(answer, q.toolSays) {
			t.Errorf("tool: error %q, want %q %q", answer, q.message, q.toolSays)
		}
		return
	}
	for _, o := range l.ops {
		if o.Tool == q.tool {
			seen["tool "+o.ID] = true
			if err := optest.CheckToolOutput(o, []byte(answer)); err != nil {
				t.Errorf("tool: the answer is not what the schema says: %v\n%.500s", err, answer)
			}
			l.checkAnswer(t, "tool", []byte(answer), q)
		}
	}
}

// checkAnswer holds an answer to what the question wants.
func (l *library) checkAnswer(t *testing.T, on string, body []byte, q question) {
	t.Helper()
	var answer any
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	l.checkPages(t, answer)
	l.checkMarks(t, on, answer)
	for path, want := range q.want {
		got, ok := at(answer, path)
		switch w := want.(type) {
		case int:
			want = float64(w)
		case string:
			want = l.spell(w)
		}
		if !ok || !cmp.Equal(got, want) {
			t.Errorf("%s: %s is %v (there: %v), want %v", on, path, got, ok, want)
		}
	}
	if q.check != nil {
		q.check(t, answer)
	}
}

// checkPages follows every page address of an answer.
func (l *library) checkPages(t *testing.T, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			l.checkPages(t, e)
		}
	case map[string]any:
		if page, ok := v["page"].(string); ok {
			target, found := strings.CutPrefix(page, publicURL)
			if w := do(l.public, http.MethodGet, target, ""); !found || w.Code != http.StatusOK {
				t.Errorf("page %s: %d", page, w.Code)
			}
		}
		if url, ok := v["url"]; ok && url == "" {
			t.Errorf("an empty url: %v", v)
		}
		for _, e := range v {
			l.checkPages(t, e)
		}
	}
}

// checkMarks holds that what anybody could write is marked, on itself or on what it
// is part of.
func (l *library) checkMarks(t *testing.T, on string, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			l.checkMarks(t, on, e)
		}
	case map[string]any:
		if v["third_party"] == true {
			return
		}
		for _, name := range []string{"record_id", "id"} {
			var id int64
			switch of := v[name].(type) {
			case float64:
				id = int64(of)
			case string: // that of a search result; of a proposal it has letters
				id, _ = strconv.ParseInt(of, 10, 64)
			}
			if id < catalog.FirstID {
				continue
			}
			if r, err := l.store.ByID(t.Context(), id); err == nil && kb.ThirdParty(r) {
				t.Errorf("%s: %s is not marked as a third party's: %.300v", on, r.Ref(), v)
			}
		}
		for _, e := range v {
			l.checkMarks(t, on, e)
		}
	}
}

// route finds the operation that serves an address, fixed segments before
// parameters.
func route(ops []op.Operation, method, target string) (best op.Operation, found bool) {
	path, _, _ := strings.Cut(target, "?")
	least := -1
	for _, o := range ops {
		if o.Path == "" || o.Method != method && !(o.Post && method == http.MethodPost) {
			continue
		}
		if n, ok := matches(strings.Split(o.Path, "/"), strings.Split(path, "/")); ok && (least < 0 || n < least) {
			best, least = o, n
		}
	}
	return best, least >= 0
}

func matches(pattern, path []string) (params int, ok bool) {
	for i, p := range pattern {
		switch {
		case i >= len(path):
			return 0, false
		case strings.HasSuffix(p, "...}"):
			return params + 1, true
		case strings.HasPrefix(p, "{"):
			params++
		case p != path[i]:
			return 0, false
		}
	}
	return params, len(path) == len(pattern)
}

// at reads a path such as items.0.id of an answer.
func at(v any, path string) (any, bool) {
	head, rest, more := strings.Cut(path, ".")
	switch x := v.(type) {
	case map[string]any:
		e, ok := x[head]
		if !more || !ok {
			return e, ok
		}
		return at(e, rest)
	case []any:
		switch head {
		case "#":
			return float64(len(x)), true
		case "*":
			parts := make([]string, len(x))
			for i, e := range x {
				p, _ := at(e, rest)
				b, _ := json.Marshal(p)
				parts[i] = strings.Trim(string(b), `"`)
			}
			return strings.Join(parts, ","), true
		}
		i, err := strconv.Atoi(head)
		if err != nil || i >= len(x) {
			return nil, false
		}
		if !more {
			return x[i], true
		}
		return at(x[i], rest)
	}
	return nil, false
}
