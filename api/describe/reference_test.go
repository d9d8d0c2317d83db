package describe_test

import (
	"context"
	"strings"
	"testing"

	"almanac/api/describe"
	"almanac/api/op"
	"almanac/testing/optest"
)

func groups(publicURL string) []describe.Section {
	return describe.Reference(describe.Service{PublicURL: publicURL, Operations: optest.Operations(),
		Groups: []describe.Group{{Name: "shelf", Description: "Books."}, {Name: "desk"}, {Name: "attic"}, {Name: "empty"}}})
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
	described := describe.Reference(describe.Service{PublicURL: "https://kb.example",
		Groups: []describe.Group{{Name: "desk"}}, Operations: []op.Operation{op.New(spec, func(context.Context, in) (optest.Note, error) {
			return optest.Note{}, nil
		})}})
	o := described[0].Operations[0]
	if want := "/api/v1/search?q=red+atlas&kinds=Novel%2CAtlas&pages=7%2C8"; o.Example != want {
		t.Errorf("by GET %s, want %s", o.Example, want)
	}
	if want := `'{"kinds":["Novel","Atlas"],"pages":[7,8],"q":"red atlas"}'`; !strings.HasSuffix(o.Posted, " -d "+want) {
		t.Errorf("by POST %s, want %s", o.Posted, want)
	}
	got := map[string]describe.Param{}
	for _, p := range o.Params {
		got[p.Name] = p
	}
	if got["kinds"].Example != "Novel,Atlas" || got["pages"].Example != "7,8" || !got["exact"].Switch ||
		!strings.Contains(got["kinds"].Kind, "3 items at most") || !strings.Contains(got["pages"].Kind, "1 at least") {
		t.Errorf("%+v", got)
	}
}
