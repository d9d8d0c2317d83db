package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// decision is what one package decides for all others.
type decision struct {
	owner string                // the package to ask, or all below it
	among []string              // layers that are looked at; none: all
	made  func(d ast.Decl) bool // reports whether a declaration decides
	also  map[string]string     // files and directories that may, and why
}

var decisions = map[string]decision{
	// In literals the marks of fenced code, or a backtick and a tilde, which
	// compare characters.
	"which lines are code": {owner: "text/markdown", made: func(d ast.Decl) bool {
		seen := literals(d)
		return seen["`"] && seen["~"] || matches(seen, "```|~~~|`\\{|`~|~`") // also parts of expressions and sets
	}, also: map[string]string{
		"ingest/curated/text.go":    "writes them",
		"ingest/proposal/format.go": "writes them",
		"text/markup/fence.go":      "writes them",
		"testing/hostile/shapes.go": "writes them",
		"text/markup/rst_inline.go": "reads roles of reStructuredText",
	}},
	"what a date is": {owner: "text/dates", made: func(d ast.Decl) bool {
		return calls(d, "time.Parse", "time.ParseInLocation", "mail.ParseDate", "http.ParseTime") ||
			matches(literals(d), `(?i)\bjan\w*\W{1,10}feb`)
	}, also: map[string]string{
		"ingest/sample/": "files within the program",
	}},
	// Both schemes in one declaration, by which they are told from others.
	"what a web address is": {owner: "text/webaddress", made: func(d ast.Decl) bool {
		seen := literals(d)
		return seen["http"] && seen["https"] || seen["http://"] && seen["https://"]
	}, also: map[string]string{
		"api/reports/violations.go":   "reports of browsers name sockets and data too",
		"api/edge/origin.go":          "an origin, which is no address",
		"ingest/gitrepo/forge.go":     "addresses of git, by ssh too",
		"ingest/gitrepo/remote.go":    "addresses of git, by ssh too",
		"ingest/outbound/once.go":     "a redirect from one scheme to the other",
		"ingest/outbound/guard.go":    "a redirect from one scheme to the other",
		"ingest/outbound/own.go":      "default ports, of git too",
		"ingest/packages/endpoint.go": "writes the address of a registry",
		"ingest/packages/npm.go":      "addresses of git, by ssh too",
	}},
	"which paths a pattern of an option names": {owner: "text/glob", among: []string{"ingest"},
		made: func(d ast.Decl) bool {
			return calls(d, "path.Match", "filepath.Match", "fs.Glob", "filepath.Glob")
		}, also: map[string]string{
			"ingest/mail/":            "lists the files of a directory",
			"ingest/memory/memory.go": "lists its own files",
			"ingest/sample/":          "files within the program",
		}},
	"how a revision is named": {owner: "retrieval/revision", among: []string{"retrieval", "api", "cmd"},
		made: func(d ast.Decl) bool {
			seen := literals(d)
			return seen["%s@%d"] || seen["@"] && calls(d, "strings.Cut")
		}, also: map[string]string{
			"retrieval/analysis/identifier.go": "identifiers in texts have it too",
		}},
	"how much of a request is read": {owner: "api/edge", among: []string{"api"},
		made: func(d ast.Decl) bool { return calls(d, "io.ReadAll", "http.MaxBytesReader") },
		also: map[string]string{
			"api/dashboard/cases/exchange.go": "a file of a form that is bounded",
		}},
	"how much of a file is read": {owner: "ingest/folder", among: []string{"ingest", "catalog", "embed"},
		made: func(d ast.Decl) bool { return calls(d, "os.Open", "os.ReadFile", "fs.ReadFile") },
		also: map[string]string{
			"catalog/datadir/backup.go":  "its own files, which are larger than memory",
			"catalog/datadir/restore.go": "archives that are larger than memory",
			"ingest/forge/cache.go":      "its own files, which are compressed",
			"ingest/mail/":               "archives that are larger than memory",
			"ingest/sample/":             "files within the program",
		}},
}

// TestOnePackageDecides looks in the Go files for what one package decides.
func TestOnePackageDecides(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	unused := map[string]bool{}
	for what, by := range decisions {
		for place := range by.also {
			unused[what+": "+place] = true
		}
	}
	for _, p := range ourPackages(t) {
		for _, name := range p.files(t) {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			rel, err := filepath.Rel(root, name)
			if err != nil {
				t.Fatal(err)
			}
			rel = filepath.ToSlash(rel)
			for what, by := range decisions {
				if strings.HasPrefix(rel, by.owner) || len(by.among) > 0 && !slices.Contains(by.among, layer(p.path)) ||
					!slices.ContainsFunc(file.Decls, by.made) {
					continue
				}
				allowed := false
				for place := range by.also {
					if strings.HasPrefix(rel, place) {
						allowed = true
						delete(unused, what+": "+place)
					}
				}
				if !allowed {
					t.Errorf("%s decides %s: ask %s", rel, what, by.owner)
				}
			}
		}
	}
	for _, exception := range slices.Sorted(maps.Keys(unused)) {
		t.Errorf("nothing needs the exception of %s", exception)
	}
}

// literals are the strings and characters in a declaration.
func literals(d ast.Decl) map[string]bool {
	seen := map[string]bool{}
	ast.Inspect(d, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && (lit.Kind == token.STRING || lit.Kind == token.CHAR) {
			text, _ := strconv.Unquote(lit.Value) // it has been parsed
			seen[text] = true
		}
		return true
	})
	return seen
}

func matches(literals map[string]bool, pattern string) bool {
	re := regexp.MustCompile(pattern)
	for text := range literals {
		if re.MatchString(text) {
			return true
		}
	}
	return false
}

// calls reports whether a declaration uses one of some functions.
func calls(d ast.Decl, functions ...string) (found bool) {
	ast.Inspect(d, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := s.X.(*ast.Ident); ok {
				found = found || slices.Contains(functions, of.Name+"."+s.Sel.Name)
			}
		}
		return !found
	})
	return found
}
