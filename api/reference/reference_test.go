package reference_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"almanac/api/op"
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
			!strings.HasPrefix(got.Request, "curl https://kb.example"+strings.Split(o.Path, "{")[0]) &&
				!strings.HasPrefix(got.Request, "curl 'https://kb.example"+strings.Split(o.Path, "{")[0]) {
			t.Errorf("%s: %+v", o.ID, got)
		}
		if o.Post != (got.Posted != "") {
			t.Errorf("%s: by POST %q", o.ID, got.Posted)
		}
		if strings.Contains(got.Request+got.Posted, "-H 'Content-Type: application/json' -d ") {
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

// TestARequestByPostHasTheExample as its body, where the address has it in the form of an
// address.
func TestARequestByPostHasTheExample(t *testing.T) {
	type in struct {
		Q     string   `json:"q" required:"true"`
		Kinds []string `json:"kinds" maxItems:"3"`
		Pages []int    `json:"pages" minimum:"1" default:"[1,2]"`
		Exact *bool    `json:"exact"`
	}
	spec := op.Spec{ID: "search_books", Group: "desk", Path: "/api/v1/search", Post: true, Summary: "Finds books.",
		Example: in{Q: "red atlas", Kinds: []string{"Novel", "Atlas"}, Pages: []int{7, 8}}}
	described := reference.Groups(reference.Config{PublicURL: "https://kb.example",
		Groups: []openapi.Group{{Name: "desk"}}, Operations: []op.Operation{op.New(spec, func(context.Context, in) (optest.Note, error) {
			return optest.Note{}, nil
		})}})
	o := described[0].Operations[0]
	if want := "/api/v1/search?q=red+atlas&kinds=Novel%2CAtlas&pages=7%2C8"; o.Example != want {
		t.Errorf("by GET %s, want %s", o.Example, want)
	}
	if want := `'{"kinds":["Novel","Atlas"],"pages":[7,8],"q":"red atlas"}'`; !strings.HasSuffix(o.Posted, " -d "+want) {
		t.Errorf("by POST %s, want %s", o.Posted, want)
	}
	got := map[string]reference.Param{}
	for _, p := range o.Params {
		got[p.Name] = p
	}
	if got["kinds"].Example != "Novel,Atlas" || got["pages"].Example != "7,8" || !got["exact"].Switch ||
		!strings.Contains(got["kinds"].Kind, "3 items at most") || !strings.Contains(got["pages"].Kind, "1 at least") {
		t.Errorf("%+v", got)
	}
}
