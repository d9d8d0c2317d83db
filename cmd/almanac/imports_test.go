package main

import (
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"almanac/ingest/networks"
)

// pkg is a package of this module as `go list` prints it.
type pkg struct {
	path, name, dir, doc string
	imports              []string
	tests                []string // imports of its tests alone
}

// ourPackages lists all packages of this module.
func ourPackages(t *testing.T) []pkg {
	t.Helper()
	format := "{{.ImportPath}}\t{{.Name}}\t{{.Dir}}\t{{.Doc}}\t{{join .Imports \" \"}}\t" +
		"{{join .TestImports \" \"}} {{join .XTestImports \" \"}}"
	cmd := exec.Command("go", "list", "-f", format, "almanac/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 6 {
			t.Fatalf("go list says %q", line)
		}
		all = append(all, pkg{f[0], f[1], f[2], f[3], strings.Fields(f[4]), strings.Fields(f[5])})
	}
	return all
}

// leaves are open to all and import only leaves.
var leaves = []string{"almanac/catalog/network", "almanac/ingest/folder", "almanac/text/options",
	"almanac/ingest/outbound", "almanac/catalog/span", "almanac/text/dates", "almanac/text/dotpath", "almanac/text/glob",
	"almanac/text/markdown", "almanac/text/markup", "almanac/text/nearest", "almanac/text/pdf", "almanac/text/prose",
	"almanac/text/visible", "almanac/text/webaddress", "almanac/text/webpage"}

// layerMay says what each layer may import besides itself: cmd → api → retrieval →
// {catalog, embed}, ingest → catalog.
var layerMay = map[string][]string{
	"cmd": {"api", "retrieval", "catalog", "embed", "ingest"}, "api": {"retrieval", "catalog", "skills"},
	"retrieval": {"catalog", "embed"}, "ingest": {"catalog"}, "catalog": {}, "embed": {}, "compose": {}, "text": {},
	"docs": {"ingest", "catalog"}, "skills": {},
	"testing": {"api", "cmd", "retrieval", "catalog", "embed", "ingest"},
}

// testsMay says what tests may import besides: what is below the layer, ingest
// if it fills a catalog, and what stands in for servers.
var testsMay = map[string][]string{"api": {"embed", "ingest"}, "retrieval": {"ingest"},
	"compose": {"embed", "retrieval"}}

// mayImport says which packages a package may import in addition to the leaves;
// a name that ends in ... means all below it. A package that has no row may
// import what its layer may.
var mayImport = rows(`
api/admin: api/edge api/limit api/op catalog retrieval
api/admit: retrieval
api/cips: api/kb api/kb/... api/op catalog catalog/derive
api/community: api/kb api/kb/... api/op catalog
api/dashboard: api/dashboard/...
api/dashboard/cases: api/admin api/dashboard/desk api/look catalog retrieval retrieval/eval retrieval/revision
	retrieval/workbench
api/dashboard/desk: api/admin api/edge api/look catalog retrieval retrieval/analysis retrieval/passage
	retrieval/profile retrieval/revision retrieval/workbench
api/dashboard/evaluation: api/admin api/dashboard/desk api/look catalog retrieval/eval retrieval/revision
	retrieval/workbench
api/dashboard/lab: api/admin api/dashboard/desk catalog retrieval retrieval/eval retrieval/passage retrieval/profile
	retrieval/revision retrieval/workbench
api/dashboard/operations: api/admin api/dashboard/desk catalog catalog/jobs retrieval retrieval/workbench
api/dashboard/profiles: api/admin api/dashboard/desk catalog retrieval retrieval/profile retrieval/revision
	retrieval/workbench
api/dashboard/rules: api/admin api/dashboard/desk api/look catalog retrieval retrieval/revision retrieval/workbench
api/devfund: api/kb api/kb/... api/op catalog catalog/derive
api/ecosystem: api/kb api/kb/... api/op api/versions catalog catalog/derive
api/edge: api/limit api/op
api/kb: api/kb/arg api/op api/tally catalog catalog/recent retrieval
api/kb/arg: catalog
api/kb/deprecated: catalog
api/kb/evidence: api/kb api/kb/find catalog
api/kb/find: api/admit api/kb api/kb/arg api/kb/read api/op catalog retrieval retrieval/passage
api/kb/read: api/kb api/kb/arg api/op catalog catalog/mention retrieval retrieval/passage
api/library: api/kb api/kb/... api/op catalog
api/limit: api/op
api/line: api/op api/openapi
api/look: api/edge
api/mcp: api/edge api/limit api/op catalog
api/meta: api/kb api/op catalog retrieval
api/op: catalog
api/onboarding: api/kb api/kb/... api/op catalog catalog/derive
api/openapi: api/op
api/operations: api/kb api/kb/... api/op api/versions catalog catalog/derive
api/reference: api/op api/openapi
api/releases: api/kb api/kb/... api/op api/versions catalog catalog/derive
api/remote: api/admit api/kb api/op
api/reports: api/edge api/limit api/op api/tally
api/rest: api/edge api/limit api/op
api/search: api/kb api/kb/... api/op api/tally catalog catalog/derive retrieval
api/shadow: api/tally catalog retrieval retrieval/eval retrieval/revision
api/tally: catalog
api/versions: api/kb api/kb/evidence catalog catalog/derive
api/web: api/cips api/community api/ecosystem api/edge api/kb api/kb/... api/library api/limit api/look api/meta
	api/onboarding api/op api/operations api/reference api/search api/tally catalog catalog/mention skills
cmd/config: api/limit catalog/network embed retrieval/profile
cmd/manual:
cmd/memory:
cmd/progress: ingest
cmd/telemetry: catalog/span
cmd/profiles: catalog cmd/terminal retrieval/profile retrieval/revision
cmd/terminal: api/op cmd/config retrieval/eval
catalog:
catalog/archive: catalog
catalog/datadir: catalog catalog/archive catalog/datadir/filesystem catalog/postgres catalog/sqlite
catalog/derive: catalog
catalog/jobs: catalog
catalog/mention: catalog
catalog/migrations:
catalog/network:
catalog/recent:
catalog/postgres: catalog catalog/migrations catalog/sqlstore
catalog/sqlite: catalog catalog/migrations catalog/sqlstore
catalog/sqlstore: catalog
embed:
embed/http: embed/remote
embed/ollama: embed/remote
embed/remote: embed
embed/static: embed embed/wordpiece
embed/transformer: embed embed/transformer/kernel embed/wordpiece
embed/transformer/kernel:
embed/wordpiece:
ingest: catalog catalog/derive ingest/memory catalog/mention ingest/privacy
ingest/calendar: catalog ingest ingest/curated/entries ingest/memory
ingest/connectors: catalog ingest ingest/...
ingest/curated: catalog ingest ingest/curated/entries ingest/memory
ingest/curated/entries:
ingest/docs: catalog catalog/derive ingest ingest/endpoint ingest/gitrepo ingest/memory
ingest/endpoint: catalog catalog/derive
ingest/feed: catalog catalog/derive ingest ingest/listing
ingest/fleet: catalog ingest
ingest/folder:
ingest/forge: catalog catalog/derive ingest ingest/proposal
ingest/forum: catalog ingest
ingest/gitrepo: ingest/gitrepo/rlimit
ingest/ledger: catalog ingest ingest/curated ingest/fleet ingest/listing catalog/mention
ingest/listing: catalog ingest ingest/memory
ingest/mail: catalog ingest catalog/mention
ingest/market: catalog ingest
ingest/memory:
ingest/networks:
ingest/outbound:
ingest/packages: catalog ingest ingest/memory
ingest/privacy: catalog
ingest/proposal: catalog catalog/derive ingest ingest/memory catalog/mention
ingest/proposals: catalog ingest ingest/gitrepo ingest/proposal
ingest/sample: catalog ingest ingest/snapshot
ingest/site: catalog catalog/derive ingest ingest/listing
ingest/snapshot: catalog catalog/derive ingest ingest/endpoint ingest/memory ingest/proposal
ingest/video: catalog ingest ingest/feed ingest/listing
ingest/whitepaper: catalog catalog/derive ingest ingest/listing
retrieval: retrieval/corpus retrieval/dedup retrieval/gather retrieval/index retrieval/order retrieval/passage
	retrieval/phrase retrieval/plan retrieval/profile retrieval/query retrieval/relevance retrieval/rerank
	retrieval/show retrieval/trace
retrieval/analysis:
retrieval/analysis/bm25:
retrieval/bitset:
retrieval/corpus: catalog retrieval/analysis retrieval/analysis/bm25 retrieval/corpus/prefetch retrieval/dedup
	retrieval/passage
retrieval/dedup: retrieval/analysis
retrieval/eval: retrieval retrieval/corpus retrieval/dedup retrieval/passage retrieval/profile retrieval/rerank
retrieval/fusion:
retrieval/gather: catalog embed retrieval/analysis retrieval/corpus retrieval/fusion retrieval/index retrieval/keyword
	retrieval/passage retrieval/plan retrieval/profile retrieval/relevance retrieval/rerank retrieval/topk
	retrieval/trace retrieval/vector
retrieval/index: catalog catalog/recent embed retrieval/analysis retrieval/corpus retrieval/keyword retrieval/passage
	retrieval/vector
retrieval/keyword: retrieval/analysis retrieval/passage
retrieval/keyword/embedded: retrieval/analysis retrieval/analysis/bm25 retrieval/bitset retrieval/keyword
	retrieval/passage retrieval/snapshot retrieval/topk
retrieval/keyword/meili: catalog retrieval/analysis retrieval/analysis/bm25 retrieval/keyword retrieval/passage
retrieval/order: catalog retrieval/analysis retrieval/dedup retrieval/gather retrieval/passage retrieval/plan
	retrieval/relevance retrieval/rerank retrieval/trace
retrieval/passage: catalog
retrieval/phrase: retrieval/analysis retrieval/corpus retrieval/query
retrieval/plan: catalog retrieval/analysis retrieval/corpus retrieval/keyword retrieval/passage retrieval/phrase
	retrieval/profile retrieval/query retrieval/relevance retrieval/rerank
retrieval/profile:
retrieval/query: retrieval/analysis
retrieval/relevance: retrieval/analysis retrieval/profile retrieval/query retrieval/rerank
retrieval/rerank: retrieval/analysis retrieval/analysis/bm25 retrieval/corpus
retrieval/rerank/crossencoder: embed/remote
retrieval/revision: catalog retrieval retrieval/profile retrieval/relevance
retrieval/show: catalog retrieval/analysis retrieval/gather retrieval/order retrieval/passage retrieval/plan
	retrieval/query retrieval/snippet
retrieval/snapshot:
retrieval/snippet: retrieval/analysis retrieval/query
retrieval/stack: catalog embed embed/http embed/ollama embed/remote embed/static embed/transformer embed/wordpiece
	retrieval retrieval/corpus retrieval/index retrieval/keyword retrieval/keyword/embedded retrieval/keyword/meili
	retrieval/profile retrieval/rerank/crossencoder retrieval/vector retrieval/vector/embedded retrieval/vector/qdrant
retrieval/topk:
retrieval/trace:
retrieval/vector: retrieval/analysis retrieval/passage
retrieval/vector/embedded: retrieval/bitset retrieval/passage retrieval/snapshot retrieval/topk retrieval/vector
	retrieval/vector/kernel
retrieval/vector/kernel:
retrieval/vector/qdrant: catalog retrieval/analysis retrieval/analysis/bm25 retrieval/passage retrieval/vector
retrieval/workbench: catalog catalog/jobs embed embed/remote retrieval retrieval/corpus retrieval/eval
	retrieval/profile retrieval/rerank retrieval/revision
skills:
testing/catalogfile: catalog/sqlite
testing/catalogtest: catalog
testing/connectortest: catalog catalog/sqlite ingest testing/catalogfile testing/soak
testing/contract:
testing/gitrepotest:
testing/hostile: ingest ingest/sample
testing/keywordtest: retrieval/analysis retrieval/keyword retrieval/passage
testing/measure: catalog catalog/postgres catalog/sqlite cmd/memory embed embed/static retrieval retrieval/eval
	retrieval/index retrieval/keyword retrieval/passage retrieval/profile retrieval/stack retrieval/vector testing/scale
testing/meilitest:
testing/networktest: catalog ingest ingest/connectors testing/gitrepotest ingest/networks
testing/port:
testing/qdranttest: testing/port testing/recordingtest testing/wait
testing/recordtest: catalog
testing/recordingtest:
testing/rulestest:
testing/scale: catalog
testing/vectortest: retrieval/analysis retrieval/passage retrieval/vector
`)

// rows reads a table of a package a line; a line that begins with a tab
// continues the one before.
func rows(table string) map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(strings.ReplaceAll(strings.TrimSpace(table), "\n\t", " ")) {
		name, may, _ := strings.Cut(line, ":")
		out["almanac/"+name] = strings.Fields(may)
	}
	return out
}

// allows reports whether a row allows an import.
func allows(may []string, to string) bool {
	return slices.ContainsFunc(may, func(name string) bool {
		if below, all := strings.CutSuffix(name, "..."); all {
			return strings.HasPrefix(to, "almanac/"+below)
		}
		return to == "almanac/"+name
	})
}

// forTests reports whether a package is there for tests alone.
func forTests(path string) bool { return strings.HasSuffix(path, "test") || layer(path) == "testing" }

func layer(path string) string { return strings.Split(path, "/")[1] }

// ours are the imports that are ours, without leaves.
func ours(imports []string) []string {
	return slices.DeleteFunc(slices.Clone(imports), func(to string) bool {
		return !strings.HasPrefix(to, "almanac/") || slices.Contains(leaves, to)
	})
}

func TestImportsGoOneWay(t *testing.T) {
	all := ourPackages(t)
	for _, p := range all {
		from := layer(p.path)
		if _, ok := layerMay[from]; !ok {
			t.Errorf("%s is in no known layer", p.path)
		}
		if isLeaf := slices.Contains(leaves, p.path); isLeaf && len(ours(p.imports)) > 0 {
			t.Errorf("%s is a leaf and imports %v", p.path, ours(p.imports))
		}
		row, narrow := mayImport[p.path]
		for _, to := range ours(p.imports) {
			if l := layer(to); l != from && !slices.Contains(layerMay[from], l) {
				t.Errorf("%s imports %s: %s may only import %v", p.path, to, from, layerMay[from])
			}
			if narrow && !allows(row, to) {
				t.Errorf("%s imports %s: its row allows %v", p.path, to, row)
			}
			if forTests(to) && !forTests(p.path) {
				t.Errorf("%s imports %s, which is for tests", p.path, to)
			}
		}
		for _, to := range ours(p.tests) {
			below := slices.Concat(layerMay[from], testsMay[from])
			if l := layer(to); l != from && l != "testing" && !slices.Contains(below, l) {
				t.Errorf("tests of %s import %s: those of %s may only import %v", p.path, to, from, below)
			}
		}
	}
	for path := range mayImport {
		if !slices.ContainsFunc(all, func(p pkg) bool { return p.path == path }) {
			t.Errorf("there is a row for %s and no such package", path)
		}
	}
}

// TestTopLevel holds the directories of the repository; beside them there are
// files alone.
func TestTopLevel(t *testing.T) {
	want := []string{"api", "catalog", "cmd", "compose", "docs", "embed", "ingest", "packaging", "retrieval",
		"skills", "testing", "text"}
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "bin" && e.Name() != "dist" && // are built
			!strings.HasPrefix(e.Name(), ".") {
			have = append(have, e.Name())
		}
	}
	if !slices.Equal(have, want) {
		t.Errorf("the directories are %v, want %v", have, want)
	}
}

// TestLibrariesStayBehindOnePackage holds what must be replaceable to the
// package that hides it.
func TestLibrariesStayBehindOnePackage(t *testing.T) {
	only := map[string][]string{
		"github.com/gin-gonic/gin":                {"almanac/api/edge"},
		"github.com/modelcontextprotocol/go-sdk/": {"almanac/api/mcp", "almanac/api/remote"},
		// The embedding cache is a file of its own beside any catalog, shared by
		// processes that may be killed: it keeps its vectors in SQLite too.
		"database/sql":         {"almanac/catalog/sqlstore", "almanac/catalog/sqlite", "almanac/catalog/postgres", "almanac/embed"},
		"modernc.org/sqlite":   {"almanac/catalog/sqlite", "almanac/embed"},
		"github.com/jackc/":    {"almanac/catalog/postgres", "almanac/testing/postgrestest"},
		"github.com/redis/":    {"almanac/api/limit", "almanac/testing/redistest"},
		"go.opentelemetry.io/": {"almanac/catalog/span", "almanac/cmd/telemetry", "almanac/testing/spantest"},
		"github.com/pressly/":  {"almanac/catalog/sqlite", "almanac/catalog/postgres"},

		"github.com/meilisearch/":    {"almanac/retrieval/keyword/meili"},
		"github.com/qdrant/":         {"almanac/retrieval/vector/qdrant", "almanac/testing/qdranttest"},
		"github.com/ollama/":         {"almanac/embed/ollama"},
		"github.com/sony/gobreaker/": {"almanac/retrieval/gather", "almanac/api/remote"},
		"google.golang.org/grpc":     {"almanac/retrieval/vector/qdrant", "almanac/testing/qdranttest"},
	}
	for _, p := range ourPackages(t) {
		for _, to := range p.imports {
			for library, by := range only {
				if strings.HasPrefix(to, library) && !slices.Contains(by, p.path) {
					t.Errorf("%s imports %s: only %v may", p.path, to, by)
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range ourPackages(t) {
		if p.doc == "" && p.hasCode(t) {
			t.Errorf("%s has no package comment", p.path)
		}
		for _, name := range []string{"util", "utils", "common", "helper", "helpers", "model", "models", "misc"} {
			if p.name == name {
				t.Errorf("%s: %s says nothing of what a package is for", p.path, name)
			}
		}
	}
}

// hasCode reports whether a package is more than its tests.
func (p pkg) hasCode(t *testing.T) bool { return len(p.files(t)) > 0 }

// files are the package's Go files that are not tests.
func (p pkg) files(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(p.dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
}

// TestNoCodeKnowsANetwork looks in the Go files for the names that stand in
// the presets of real networks.
func TestNoCodeKnowsANetwork(t *testing.T) {
	names := networkWords(t)
	if len(names) == 0 {
		t.Fatal("the presets name nothing")
	}
	pattern := regexp.MustCompile(`(?i)\b(` + strings.Join(names, "|") + `)`)
	for _, p := range ourPackages(t) {
		for _, name := range p.files(t) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for n, line := range strings.Split(string(text), "\n") {
				if word := pattern.FindString(line); word != "" {
					t.Errorf("%s:%d names %q: %s", name, n+1, word, strings.TrimSpace(line))
				}
			}
		}
	}
}

// english are words of titles and owners that name no network.
var english = []string{"network", "networks", "foundation", "ledger", "digital", "asset", "assets", "global",
	"protocol", "labs", "example", "testing"}

// networkWords are the words of more than four letters in the titles, home
// pages and repository owners of the presets but the fictional one.
func networkWords(t *testing.T) []string {
	t.Helper()
	words := map[string]bool{}
	add := func(text string) {
		for _, w := range regexp.MustCompile(`[A-Za-z]{5,}`).FindAllString(text, -1) {
			if w = strings.ToLower(w); !slices.Contains(english, w) {
				words[w] = true
			}
		}
	}
	owner := regexp.MustCompile(`^([A-Za-z0-9-]+)/[A-Za-z0-9._-]+$`)
	var walk func(key string, value any)
	walk = func(key string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for k, x := range v {
				walk(k, x)
			}
		case []any:
			for _, x := range v {
				walk(key, x)
			}
		case string:
			if m := owner.FindStringSubmatch(v); m != nil && strings.HasPrefix(key, "repo") {
				add(m[1])
			}
		}
	}
	for _, name := range networks.Names() {
		if name == "sample" {
			continue
		}
		n, err := networks.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		add(n.Title)
		if u, err := url.Parse(n.Homepage); err == nil {
			if labels := strings.Split(u.Hostname(), "."); len(labels) > 1 {
				add(labels[len(labels)-2])
			}
		}
		for _, src := range n.Sources {
			walk("", src.Options.Values())
		}
	}
	return slices.Sorted(maps.Keys(words))
}
