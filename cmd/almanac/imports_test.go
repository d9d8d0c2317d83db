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

// pkg is a package of ours as `go list` knows it.
type pkg struct {
	path, name, dir, doc string
	imports              []string
}

// ourPackages lists all of ours.
func ourPackages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", "{{.ImportPath}}\t{{.Name}}\t{{.Dir}}\t{{.Doc}}\t{{join .Imports \" \"}}", "almanac/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			t.Fatalf("go list says %q", line)
		}
		all = append(all, pkg{f[0], f[1], f[2], f[3], strings.Fields(f[4])})
	}
	return all
}

// TestImportsGoOneWay holds the direction of imports: cmd → api → retrieval →
// {catalog, embed}, ingest → catalog; two leaves are open to all.
func TestImportsGoOneWay(t *testing.T) {
	// What each layer may import besides itself.
	allowed := map[string][]string{
		"cmd": {"api", "retrieval", "catalog", "embed", "ingest"}, "api": {"retrieval", "catalog"}, "retrieval": {"catalog", "embed"},
		"ingest": {"catalog"}, "catalog": {}, "embed": {},
		"exchangetest": {}, // only tests import it
	}
	leaves := []string{"almanac/catalog/network", "almanac/ingest/outbound"}
	layer := func(path string) string { return strings.Split(path, "/")[1] }
	for _, p := range ourPackages(t) {
		from := layer(p.path)
		if _, ok := allowed[from]; !ok {
			t.Errorf("%s is in no known layer", p.path)
		}
		for _, to := range p.imports {
			if !strings.HasPrefix(to, "almanac/") || slices.Contains(leaves, to) {
				continue
			}
			if slices.Contains(leaves, p.path) {
				t.Errorf("%s is a leaf and imports %s", p.path, to)
			}
			if l := layer(to); l != from && !slices.Contains(allowed[from], l) {
				t.Errorf("%s imports %s: %s may only import %v", p.path, to, from, allowed[from])
			}
			if l := layer(to); l == "cmd" {
				t.Errorf("%s imports %s: nobody imports cmd", p.path, to)
			}
			if from == "retrieval" && to == "almanac/retrieval" && p.path != "almanac/retrieval/eval" && p.path != "almanac/retrieval/stack" {
				t.Errorf("%s imports retrieval: stages import nothing of it", p.path)
			}
		}
	}
}

// TestLibrariesStayBehindOnePackage holds what must be replaceable to the
// package that hides it.
func TestLibrariesStayBehindOnePackage(t *testing.T) {
	only := map[string][]string{
		"github.com/gin-gonic/gin":                {"almanac/api/rest"},
		"github.com/modelcontextprotocol/go-sdk/": {"almanac/api/mcp"},
		// The embedding cache is a file of its own beside any catalog, shared by
		// processes that may be killed: it keeps its vectors in SQLite too.
		"database/sql":        {"almanac/catalog/sqlite", "almanac/embed"},
		"modernc.org/sqlite":  {"almanac/catalog/sqlite", "almanac/embed"},
		"github.com/pressly/": {"almanac/catalog/sqlite"},

		"github.com/meilisearch/":    {"almanac/retrieval/keyword/meili"},
		"github.com/qdrant/":         {"almanac/retrieval/vector/qdrant", "almanac/retrieval/vector/qdrant/qdranttest"},
		"github.com/ollama/":         {"almanac/embed/ollama"},
		"github.com/sony/gobreaker/": {"almanac/retrieval"},
		"google.golang.org/grpc":     {"almanac/retrieval/vector/qdrant", "almanac/retrieval/vector/qdrant/qdranttest", "almanac/exchangetest"},
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

// files are the package's Go files that are no tests.
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
var english = []string{"network", "networks", "foundation", "ledger", "digital", "asset", "assets", "global", "protocol", "labs", "example", "testing"}

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
			walk("", src.Options)
		}
	}
	return slices.Sorted(maps.Keys(words))
}
