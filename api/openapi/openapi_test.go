package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"almanac/api/op"
	"almanac/api/openapi"
	"almanac/testing/optest"
)

func document(t *testing.T, ops []op.Operation) []byte {
	t.Helper()
	b, err := openapi.Document(openapi.Config{
		Title: "Shelf", PublicURL: "https://kb.example", Operations: ops, Exact: []string{"Note"},
		Groups: []openapi.Group{{Name: "desk", Description: "Questions."}},
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

func TestResponses(t *testing.T) {
	doc := load(t, document(t, optest.Operations()))
	for path, want := range map[string][]string{
		"/api/v1/books":      {"200", "400", "414", "429", "503", "504"},
		"/api/v1/books/{id}": {"200", "400", "404", "414", "429", "503", "504"},
		"/api/v1/about":      {"200", "429", "504"},
		"/api/v1/closed":     {"200", "429", "503", "504"},
	} {
		got := slices.Sorted(slices.Values(doc.Paths.Value(path).Get.Responses.Keys()))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	post := doc.Paths.Value("/api/v1/books/batch").Post
	if post.RequestBody == nil || post.Responses.Value("413") == nil || post.Responses.Value("415") == nil {
		t.Error("the batch has no body, 413 or 415")
	}
}

func TestTypesAreDescribedOnce(t *testing.T) {
	b := document(t, optest.Operations())
	var doc struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range doc.Components.Schemas {
		names = append(names, name)
	}
	slices.Sort(names)
	if want := []string{"Error", "Note", "OptestBatch", "OptestBook", "OptestEcho", "OptestShelf"}; !slices.Equal(names,
		want) {
		t.Errorf("components %v, want %v", names, want)
	}
	for want, n := range map[string]int{
		`"sequel":{"anyOf":[{"$ref":"#/components/schemas/Note"},{"type":"null"}]}`: 1,
		`"withdrawn":{"type":["null","string"]`:                                     1,
		`"$ref":"#/components/schemas/OptestBook"`:                                  3, // the list, the batch, the item
		`"style":"form","explode":false`:                                            2,
	} {
		if got := strings.Count(string(b), want); got != n {
			t.Errorf("%s: %d times, want %d", want, got, n)
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

// TestNames holds that a component's name depends on its own type alone.
func TestNames(t *testing.T) {
	ops := append(optest.Operations(),
		op.New(op.Spec{ID: "other", Path: "/other"},
			func(context.Context, struct{}) (Page[Book], error) { return Page[Book]{}, nil }),
		op.New(op.Spec{ID: "page", Path: "/page"},
			func(context.Context, struct{}) (Page[optest.Note], error) { return Page[optest.Note]{}, nil }))
	b := string(document(t, ops))
	for _, want := range []string{`"NotePage":{`, `"OptestBook":{`, `"Openapi_testBook":{`,
		`"Openapi_testBookPage":{`} {
		if !strings.Contains(b, want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
	load(t, []byte(b))
	if strings.Contains(b, `"any":true`) || !strings.Contains(b, `"any":{"description":`) {
		t.Error("a schema is a boolean")
	}
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

func TestTwoOperationsOnOnePathAreRefused(t *testing.T) {
	ops := optest.Operations()
	if _, err := openapi.Document(openapi.Config{Operations: append(ops, ops[0])}); err == nil {
		t.Error("no error")
	}
}
