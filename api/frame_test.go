package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// groupDirs are the packages of operations.
var groupDirs = []string{"meta", "cips", "devfund", "operations", "search", "library", "ecosystem", "community",
	"onboarding", "releases"}

// sources parses the Go files of a directory that are not tests.
func sources(t *testing.T, dir string) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if files[name], err = parser.ParseFile(token.NewFileSet(), name, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestNoConstraintIsWrittenTwice reads the struct tags of every group: a
// pattern or an enumeration that two fields need belongs to a named type.
func TestNoConstraintIsWrittenTwice(t *testing.T) {
	seen := map[string]string{}
	for _, dir := range append(slices.Clone(groupDirs), "kb", "kb/find", "kb/read", "kb/evidence") {
		for name, file := range sources(t, dir) {
			ast.Inspect(file, func(n ast.Node) bool {
				f, ok := n.(*ast.Field)
				if !ok || f.Tag == nil {
					return true
				}
				text, err := strconv.Unquote(f.Tag.Value)
				if err != nil {
					t.Fatal(err)
				}
				for _, key := range []string{"pattern", "toolpattern", "enum", "toolenum"} {
					v, ok := reflect.StructTag(text).Lookup(key)
					if !ok {
						continue
					}
					if at, twice := seen[key+v]; twice {
						t.Errorf("%s: %s:%q is written in %s too", name, key, v, at)
					}
					seen[key+v] = name
				}
				return true
			})
		}
	}
	if len(seen) == 0 {
		t.Error("there are no tags")
	}
}

// linesPerOperation is what an operation may cost on average, with its types and
// what it alone computes: lines of code, without blank ones, comments and imports.
const linesPerOperation = 80

// linesOfCode counts them in a Go file.
func linesOfCode(text []byte) (n int) {
	importing := false
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(line, []byte("import (")):
			importing = true
		case importing:
			importing = !bytes.Equal(line, []byte(")"))
		case len(line) > 0 && !bytes.HasPrefix(line, []byte("//")):
			n++
		}
	}
	return n
}

// TestLinesPerOperation holds and prints what an operation costs.
func TestLinesPerOperation(t *testing.T) {
	ops := map[string]int{}
	for _, o := range operations() {
		ops[o.Group]++
	}
	if got := slices.Sorted(maps.Keys(ops)); !slices.Equal(got, slices.Sorted(slices.Values(groupDirs))) {
		t.Fatalf("groups %v, want %v", got, groupDirs)
	}
	total, all := 0, 0
	for _, dir := range groupDirs {
		lines := 0
		for name := range sources(t, dir) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if n := bytes.Count(text, []byte("\n")); n > 300 {
				t.Errorf("%s has %d lines: make two of it", name, n)
			}
			lines += linesOfCode(text)
		}
		t.Logf("%-12s %4d lines, %2d operations, %3d each", dir, lines, ops[dir], lines/ops[dir])
		total, all = total+lines, all+ops[dir]
	}
	mean := float64(total) / float64(all)
	t.Logf("%d lines, %d operations: %.1f lines an operation", total, all, mean)
	if mean > linesPerOperation {
		t.Errorf("%.1f lines an operation, more than %d", mean, linesPerOperation)
	}
}

// TestComponentsAreObjects holds that no schema in OpenAPI that generated clients are
// made of is written as true or false.
func TestComponentsAreObjects(t *testing.T) {
	l := open(t)
	var doc struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	body := do(l.public, "GET", "/api/v1/openapi.json", "").Body.Bytes()
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	for name, schema := range doc.Components.Schemas {
		if err := noBoolean(schema, name); err != nil {
			t.Error(err)
		}
	}
}

// noBoolean fails on a schema written as true or false where generators of
// clients expect an object.
func noBoolean(raw json.RawMessage, at string) error {
	if s := string(raw); s == "true" || s == "false" {
		return fmt.Errorf("%s is %s", at, s)
	}
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	for name, p := range s.Properties {
		if err := noBoolean(p, at+"."+name); err != nil {
			return err
		}
	}
	if s.Items == nil {
		return nil
	}
	return noBoolean(s.Items, at+"[]")
}
