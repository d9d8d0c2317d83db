package reference_test

import (
	"slices"
	"strings"
	"testing"

	"almanac/api/openapi"
	"almanac/api/reference"
	"almanac/testing/optest"
)

func groups(publicURL string) []reference.Group {
	return reference.Groups(reference.Config{PublicURL: publicURL, Operations: optest.Operations(),
		Groups: []openapi.Group{{Name: "shelf", Description: "Books."}, {Name: "desk"}, {Name: "attic"}, {Name: "empty"}}})
}

// TestEveryOperationIsDescribed holds that each has its title, its parameters with their
// constraints, a curl line and, if it is a GET, a form.
func TestEveryOperationIsDescribed(t *testing.T) {
	described := map[string]reference.Operation{}
	var kinds []string
	for _, g := range groups("https://kb.example") {
		if g.Name == "empty" || g.Title == "" || g.Name == "shelf" && g.Title != "Books" {
			t.Errorf("the group %s is titled %q", g.Name, g.Title)
		}
		for _, o := range g.Operations {
			described[o.ID] = o
			for _, p := range o.Params {
				kinds = append(kinds, p.Kind)
			}
		}
	}
	posts := 0
	for _, o := range optest.Operations() {
		if o.Path == "" || o.Group == "" {
			continue
		}
		got, ok := described[o.ID]
		if !ok || got.Title == "" || got.Try != (o.Method == "GET") ||
			!strings.HasPrefix(got.Curl, "curl https://kb.example"+strings.Split(o.Path, "{")[0]) &&
				!strings.HasPrefix(got.Curl, "curl 'https://kb.example"+strings.Split(o.Path, "{")[0]) {
			t.Errorf("%s: %+v", o.ID, got)
		}
		if o.Post != (got.Posted != "") {
			t.Errorf("%s: by POST %q", o.ID, got.Posted)
		}
		if strings.Contains(got.Curl+got.Posted, "-H 'Content-Type: application/json' -d ") {
			posts++
		}
		n := 0
		for _, p := range o.Params {
			if p.REST {
				n++
			}
		}
		if len(got.Params) != n {
			t.Errorf("%s: %d of %d parameters", o.ID, len(got.Params), n)
		}
	}
	if posts == 0 {
		t.Error("no request has a body")
	}
	for _, want := range []string{"integer, 1 to 100, default 20", "list of strings, separated by commas"} {
		if !slices.ContainsFunc(kinds, func(k string) bool { return strings.HasPrefix(k, want) }) {
			t.Errorf("no %s among %q", want, kinds)
		}
	}
}

// TestAServiceBelowAPath holds that addresses of forms have its prefix.
func TestAServiceBelowAPath(t *testing.T) {
	for _, g := range groups("https://example.org/kb") {
		for _, o := range g.Operations {
			if !strings.HasPrefix(o.Action, "/kb/") || o.Example != "" && !strings.HasPrefix(o.Example, "/kb/") {
				t.Errorf("%s: %s and %s", o.ID, o.Action, o.Example)
			}
		}
	}
}
