package describe_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"almanac/api/describe"
	"almanac/api/op"
	"almanac/testing/optest"
)

func document(t *testing.T, ops []op.Operation) []byte {
	t.Helper()
	b, err := describe.OpenAPI(describe.Service{
		Title: "Shelf", PublicURL: "https://kb.example", Operations: ops, Exact: []string{"Note"},
		Groups: []describe.Group{{Name: "desk", Description: "Questions."}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func load(t *testing.T, b []byte) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(b)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestTheDocumentIsValid(t *testing.T) {
	b := document(t, optest.Operations())
	doc := load(t, b)
	if err := doc.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.0.0" || len(doc.Servers) != 1 ||
		doc.Servers[0].URL != "https://kb.example" {
		t.Errorf("head: %s %s %v", doc.OpenAPI, doc.Info.Version, doc.Servers)
	}
	if again := document(t, optest.Operations()); !bytes.Equal(b, again) {
		t.Error("the same operations give other bytes")
	}
}

func TestEveryRouteIsDescribed(t *testing.T) {
	doc := load(t, document(t, optest.Operations()))
	for _, o := range optest.Operations() {
		if o.Path == "" {
			continue
		}
		item := doc.Paths.Value(strings.ReplaceAll(o.Path, "...}", "}"))
		if item == nil || item.GetOperation(o.Method) == nil {
			t.Errorf("%s %s is missing", o.Method, o.Path)
			continue
		}
		d := item.GetOperation(o.Method)
		if d.OperationID != o.ID || !slices.Equal(d.Tags, []string{o.Group}) || d.Summary == "" {
			t.Errorf("%s: %s %v %q", o.ID, d.OperationID, d.Tags, d.Summary)
		}
		for _, p := range o.Params {
			in := "query"
			if p.Path {
				in = "path"
			}
			if got := d.Parameters.GetByInAndName(in, p.Name); (got != nil) != (p.REST && o.Method == "GET") {
				t.Errorf("%s: parameter %s: %v", o.ID, p.Name, got)
			}
		}
	}
}

// Page is generic, as lists are.
type Page[T any] struct {
	Items []T `json:"items"`
	Any   any `json:"any"`
}

// Book has the name of another package's type.
type Book struct {
	Other int `json:"other"`
}

func TestWhatGeneratorsAndLintersAskFor(t *testing.T) {
	b := string(document(t, optest.Operations()))
	for _, want := range []string{
		`"security":[]`, `"license":{"name":"Apache License 2.0","identifier":"Apache-2.0"}`,
		`{"name":"desk","description":"Questions."}`, `"example":"Novel"`, `"text/plain":{"schema":{"type":"string"}}`,
		`"operationId":"search_books_post"`,
	} {
		if !strings.Contains(b, want) {
			t.Errorf("no %s", want)
		}
	}
}
