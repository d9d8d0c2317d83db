package meta

import (
	"context"
	"strings"

	"almanac/api/kb"
	"almanac/api/op"
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
