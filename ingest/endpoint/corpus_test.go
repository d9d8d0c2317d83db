package endpoint_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"almanac/ingest/endpoint"
)

// TestRealDescriptions reads the descriptions of a real snapshot, if there is one
// beside the repository, and holds operations, names of parameters and statuses of
// responses against what another reader makes of them.
func TestRealDescriptions(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a hundred files twice: run without -short")
	}
	shared := os.Getenv("ALMANAC_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	tree := os.DirFS(filepath.Join(shared, "corpus"))
	files, operations := 0, 0
	_ = fs.WalkDir(tree, "openapi", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !endpoint.Named(name) {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		if !endpoint.Likely(string(text)) {
			return nil
		}
		files++
		api, err := endpoint.Read(endpoint.Input{Path: name, Text: string(text), Resolve: func(name string) (string, bool) {
			text, err := fs.ReadFile(tree, name)
			return string(text), err == nil
		}})
		if err != nil || len(api.Notes) > 0 {
			t.Errorf("%s: %v %q", name, err, api.Notes)
			return nil
		}
		operations += len(api.Operations)
		got := map[string][]string{}
		lines := strings.Split(string(text), "\n")
		for _, o := range api.Operations {
			var all []string
			for _, p := range o.Parameters {
				if p.In != "body" {
					all = append(all, p.In+" "+p.Name)
				}
			}
			for _, r := range o.Responses {
				all = append(all, r.Status)
			}
			slices.Sort(all)
			got[o.Method+" "+o.Route] = all
			if line := strings.Trim(lines[o.Line-1], " :'\""); !strings.EqualFold(line, o.Method) && line != o.Route {
				t.Errorf("%s: %s %s stands in line %d, which is %q", name, o.Method, o.Route, o.Line, line)
			}
		}
		if diff := cmp.Diff(otherwise(t, filepath.Join(shared, "corpus", name)), got); diff != "" {
			t.Errorf("%s (-other reader +got)\n%s", name, diff)
		}
		return nil
	})
	if files == 0 {
		t.Skip("there is no snapshot beside the repository: set ALMANAC_SHARED")
	}
	t.Logf("%d operations in %d descriptions", operations, files)
}

// otherwise reads a description with kin-openapi.
func otherwise(t *testing.T, name string) map[string][]string {
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	doc, err := loader.LoadFromFile(name)
	if err != nil {
		t.Fatal(err)
	}
	read := map[string][]string{}
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			all := map[string]bool{}
			for _, p := range slices.Concat(item.Parameters, o.Parameters) {
				all[p.Value.In+" "+p.Value.Name] = true
			}
			for status := range o.Responses.Map() {
				all[status] = true
			}
			read[method+" "+path] = slices.AppendSeq([]string(nil), maps.Keys(all))
			slices.Sort(read[method+" "+path])
		}
	}
	return read
}
