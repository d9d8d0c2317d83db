package connectors

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "write kinds/ from the comments of the packages")

// TestKindsAreTheComments: the comment of a connector's package is the one place
// where its options are described.
func TestKindsAreTheComments(t *testing.T) {
	want := map[string]string{}
	for _, dir := range directories(t) {
		for kind, text := range examples(t, dir) {
			want[kind] = text
		}
	}
	registry := All(time.Time{})
	for kind := range registry {
		if kind != Sample && want[kind] == "" {
			t.Errorf("no package comment has an example of kind %s", kind)
		}
	}
	for kind, text := range want {
		file := filepath.Join("kinds", kind+".yaml")
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		have, err := os.ReadFile(file)
		if err != nil || string(have) != text {
			t.Errorf("%s is not the package's comment (go test ./ingest/connectors -update writes it): %v", file, err)
		}
	}
	if got := slices.Sorted(maps.Keys(want)); len(Kinds()) != len(got) {
		t.Errorf("%d files for %v", len(Kinds()), got)
	}
}

func directories(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, e := range entries {
		if e.IsDir() && !strings.HasSuffix(e.Name(), "test") {
			dirs = append(dirs, filepath.Join("..", e.Name()))
		}
	}
	return dirs
}

// examples are the blocks of a package's comment that are entries of sources, by
// kind, with its first sentence.
func examples(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc == nil || strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, block := range blocks(f.Doc) {
			if kind := regexp.MustCompile(`(?m)^ *kind: (\S+)`).FindStringSubmatch(block); kind != nil &&
				strings.Contains(block, "options:") {
				out[kind[1]] = "# " + sentence(f.Doc.Text(), f.Name.Name) + "\n" + block
			}
		}
	}
	return out
}

// sentence is the first sentence of a package's comment without its name.
func sentence(text, name string) string {
	first, _, _ := strings.Cut(text, "\n\n")
	first = strings.Join(strings.Fields(strings.TrimPrefix(first, "Package "+name)), " ")
	if i := strings.Index(first, ". "); i >= 0 {
		first = first[:i+1]
	}
	return strings.ToUpper(first[:1]) + first[1:]
}

// blocks are the parts of a comment that are indented with a tab.
func blocks(doc *ast.CommentGroup) []string {
	var out []string
	var b strings.Builder
	for _, line := range strings.Split(doc.Text()+"\n.", "\n") {
		switch {
		case strings.HasPrefix(line, "\t"):
			b.WriteString(line[1:] + "\n")
		case line != "" && b.Len() > 0:
			out = append(out, b.String())
			b.Reset()
		case b.Len() > 0:
			b.WriteString("\n")
		}
	}
	for i := range out {
		out[i] = strings.TrimRight(out[i], "\n") + "\n"
	}
	return out
}

// TestEveryOptionIsDescribed: the schema of each kind, which is what editors show
// and where checks look, has a description of every option, from the comment in
// the kind's example.
func TestEveryOptionIsDescribed(t *testing.T) {
	schemas := Schemas()
	for _, k := range Kinds() {
		var walk func(s *jsonschema.Schema, path string)
		walk = func(s *jsonschema.Schema, path string) {
			if s == nil {
				return
			}
			for name, p := range s.Properties {
				at := strings.TrimPrefix(path+"."+name, ".")
				if p.Description == "" {
					t.Errorf("%s: the option %s has no comment in the example", k.Name, at)
				}
				walk(p, at)
			}
			walk(s.Items, path)
			walk(s.AdditionalProperties, path+".*")
		}
		walk(schemas[k.Name], "")
	}
}
