package meta

import (
	"context"
	"encoding/json"
	"strings"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// group is set here because the Index is made after the groups.
const group = "meta"

// Endpoints lists the endpoints.
type Endpoints struct {
	Name        string     `json:"name"`
	Network     string     `json:"network"`
	Description string     `json:"description"`
	OpenAPI     string     `json:"openapi" format:"uri"`
	MCP         string     `json:"mcp" format:"uri"`
	Endpoints   []Endpoint `json:"endpoints"`
}

// Endpoint is one REST operation.
type Endpoint struct {
	Method     string   `json:"method"`
	Path       string   `json:"path"`
	Summary    string   `json:"summary"`
	Parameters []string `json:"parameters"`
	Group      string   `json:"group"`
	Example    string   `json:"example,omitempty" doc:"an address to try"`
}

// Index is the operation that lists the endpoints: the operations, itself and
// the documents.
func Index(b kb.Base, all []op.Operation) op.Operation {
	x := Endpoints{
		Name: "almanac", Network: b.Network.Title, Description: b.Network.Description,
		OpenAPI: b.PublicURL + "/api/v1/openapi.json", MCP: b.PublicURL + "/mcp",
	}
	index := op.New(op.Spec{
		ID: "get_index", Group: group, Path: "/api/v1", BeforeReady: true,
		Summary: "Every endpoint, and where the descriptions of them are.",
	}, func(context.Context, struct{}) (Endpoints, error) { return x, nil })
	for _, o := range append([]op.Operation{index}, all...) {
		if o.Path == "" {
			continue
		}
		e := Endpoint{
			Method: o.Method, Path: strings.ReplaceAll(o.Path, "...}", "}"), Summary: o.Summary, Group: o.Group,
		}
		for _, p := range o.Params {
			if p.REST {
				e.Parameters = append(e.Parameters, p.Name)
			}
		}
		if in, ok := o.ExampleInput(); ok && o.Method == "GET" {
			e.Example, _ = o.Target(in)
		}
		x.Endpoints = append(x.Endpoints, e)
		if o.Post {
			e.Method, e.Example = "POST", ""
			x.Endpoints = append(x.Endpoints, e)
		}
	}
	x.Endpoints = append(x.Endpoints,
		document("/api/v1/openapi.json", "The OpenAPI 3.1 description of these endpoints."),
		document("/health", "Whether the service runs, and how many tools it has."),
		document("/ready", "Whether questions are answered: the catalog answers and the first index is complete."))
	return index
}

func document(path, summary string) Endpoint {
	return Endpoint{Method: "GET", Path: path, Summary: summary, Group: group}
}

// StatusResource is the content of kb://status.
func StatusResource(ctx context.Context, b kb.Base) (any, error) {
	return runStatus(ctx, b, struct{}{})
}

// Tools is the content of kb://tools.
type Tools struct {
	Total int    `json:"total"`
	Items []Tool `json:"items"`
}

// Tool is one of them.
type Tool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Group       string          `json:"group"`
	Description string          `json:"description"`
	Arguments   []string        `json:"arguments"`
	Required    []string        `json:"required"`
	Example     json.RawMessage `json:"example,omitempty"`
}

// ToolsResource is the content of kb://tools.
func ToolsResource(all []op.Operation) Tools {
	t := Tools{}
	for _, o := range all {
		if o.Tool == "" {
			continue
		}
		tool := Tool{o.Tool, o.Title, o.Group, o.Text(), o.ToolIn.PropertyOrder, o.ToolIn.Required, nil}
		if in, ok := o.ExampleInput(); ok {
			tool.Example = o.Call(in)
		}
		t.Items = append(t.Items, tool)
	}
	t.Total = len(t.Items)
	return t
}

// DocsIndexResource is the content of kb://docs-index.
func DocsIndexResource(ctx context.Context, b kb.Base) (any, error) {
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDoc}, Order: catalog.ByKey}
	records, _, err := b.Catalog.List(ctx, q)
	return indexDocs(records), err
}

// DocsIndex lists the pages of documentation by repository.
type DocsIndex struct {
	Total   int      `json:"total"`
	Corpora []Corpus `json:"corpora"`
}

// Corpus is one repository of documentation.
type Corpus struct {
	Repository string    `json:"repository"`
	Pages      int       `json:"pages"`
	Docs       []DocPage `json:"docs"`
}

// DocPage is a page of a corpus.
type DocPage struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
	Path  string `json:"path,omitempty"`
}

// indexDocs makes the index of pages, in their order.
func indexDocs(pages []catalog.Record) DocsIndex {
	at := map[string]int{}
	out := DocsIndex{Total: len(pages)}
	for _, r := range pages {
		i, ok := at[r.Container]
		if !ok {
			i = len(out.Corpora)
			at[r.Container] = i
			out.Corpora = append(out.Corpora, Corpus{Repository: r.Container})
		}
		c := &out.Corpora[i]
		c.Pages++
		c.Docs = append(c.Docs, DocPage{r.ID, r.Title, r.Path})
	}
	return out
}
