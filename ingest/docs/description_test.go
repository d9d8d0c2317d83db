package docs_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/testing/connectortest"
	"almanac/testing/gitrepotest"
)

// described is a description of an API with some operations.
func described(operations ...string) string {
	return "openapi: 3.0.3\ninfo: {title: Lamps}\npaths:\n" + strings.Join(operations, "")
}

const (
	list  = "  /v1/lamps:\n    get: {summary: List lamps, responses: {200: {$ref: 'answers.yaml#/Fine'}}}\n"
	light = "  /v1/lamps/{lamp}/light:\n    post: {summary: Light a lamp}\n"
)

// TestDescriptionsOfAPIs follows a description through the life of its file.
func TestDescriptionsOfAPIs(t *testing.T) {
	t.Parallel()
	repo := gitrepotest.New(t)
	first := repo.Commit("one", map[string]string{
		"docs/lamps.md": prose("lamps"), "docs/api/lamps.yaml": described(list, light),
		"docs/api/answers.yaml": "Fine: {description: They are these.}\n", "docs/api/other.json": `{"swagger-ui": 3}`,
		"docs/.hidden/lamps.yaml": described(list), "docs/old/lamps.yaml": described(list),
		"docs/api/picture.json": "\x00\x01",
	})
	s := source(t, repo, "exclude", []string{"docs/old/**"})
	want := []string{"docs/lamps.md", "docs/api/lamps.yaml#/v1/lamps GET",
		"docs/api/lamps.yaml#/v1/lamps/{lamp}/light POST"}
	hold := func(r connectortest.Result, changed [3]int) {
		t.Helper()
		if diff := cmp.Diff(want, files(r), cmp.Transformer("set", func(all []string) map[string]bool {
			set := map[string]bool{}
			for _, file := range all {
				set[file] = true
			}
			return set
		})); diff != "" {
			t.Errorf("records (-want +got)\n%s", diff)
		}
		if got := [3]int{r.Created, r.Updated, r.Deleted}; got != changed {
			t.Errorf("created, updated, deleted %v, want %v: %v", got, changed, r.Problems)
		}
		connectortest.Unchanged(t, s, r)
	}
	r := s.Sync()
	hold(r, [3]int{3, 0, 0})
	key := "harbour/handbook/docs/api/lamps.yaml#/v1/lamps GET"
	got := r.Get(t, catalog.KindEndpoint, key)
	if got.URL != "https://forge.example.org/harbour/handbook/blob/"+first+"/docs/api/lamps.yaml#L5" ||
		got.Container != "harbour/handbook" || got.CreatedAt.IsZero() || !strings.Contains(got.Body, "They are these.") {
		t.Errorf("%+v", got)
	}
	data := connectortest.Data[catalog.APIEndpoint](t, got)
	if data.Commit != first || data.Licence != "CC-BY-4.0" || data.Line != 5 {
		t.Errorf("%+v", data)
	}

	repo.Commit("what it refers to", map[string]string{"docs/api/answers.yaml": "Fine: {description: All of them.}\n"})
	r = s.Sync()
	hold(r, [3]int{0, 1, 0})
	if got := r.Get(t, catalog.KindEndpoint, key); !strings.Contains(got.Body, "All of them.") {
		t.Errorf("not read again:\n%s", got.Body)
	}

	repo.Commit("broken", map[string]string{"docs/api/lamps.yaml": described(list) + "  {"})
	r = s.Sync()
	if hold(r, [3]int{}); r.Skipped == 0 {
		t.Errorf("a broken file is not told of: %v", r.Problems)
	}

	repo.Commit("without an operation", map[string]string{"docs/api/lamps.yaml": described(list)})
	want = want[:2]
	hold(s.Sync(), [3]int{0, 1, 1})

	repo.Commit("renamed", map[string]string{"docs/api/lamps.yaml": gitrepotest.Gone,
		"docs/api/v1.yaml": described(list)})
	want[1] = "docs/api/v1.yaml#/v1/lamps GET"
	r = s.Sync()
	connectortest.Unchanged(t, s, r)
	if r.Get(t, catalog.KindEndpoint, "harbour/handbook/"+want[1]); len(r.Records) != 2 {
		t.Errorf("after the renaming: %v", r.Keys())
	}

	repo.Commit("something else", map[string]string{"docs/api/v1.yaml": "apiVersion: 1\n"})
	r = s.Sync()
	want = want[:1]
	hold(r, [3]int{0, 0, 1})
}
