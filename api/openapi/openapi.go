// Package openapi describes the REST operations as an OpenAPI 3.1.0 document.
package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/api/op"
)

// Version of the API, not of the program.
const Version = "1.0.0"

// Config of a document.
type Config struct {
	Title       string
	Description string
	PublicURL   string // the only server; "" = none is named
	Operations  []op.Operation
	Groups      []Group // of the operations
	// Exact lists types whose components have exactly their name; any other
	// component is named after its package and type.
	Exact []string
}

// Group describes the operations of one Spec.Group; it is a tag of the
// document.
type Group struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type document struct {
	OpenAPI    string                          `json:"openapi"`
	Info       info                            `json:"info"`
	Servers    []server                        `json:"servers,omitempty"`
	Security   []struct{}                      `json:"security"` // empty: no credentials are needed
	Tags       []Group                         `json:"tags"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components components                      `json:"components"`
}

type info struct {
	Title       string  `json:"title"`
	Version     string  `json:"version"`
	Description string  `json:"description,omitempty"`
	License     license `json:"license"`
}

type license struct {
	Name       string `json:"name"`
	Identifier string `json:"identifier"`
}

type server struct {
	URL string `json:"url"`
}

type components struct {
	Schemas   map[string]*jsonschema.Schema `json:"schemas"`
	Responses map[string]response           `json:"responses"`
}

type operation struct {
	OperationID string              `json:"operationId"`
	Summary     string              `json:"summary"`
	Description string              `json:"description,omitempty"`
	Tags        []string            `json:"tags,omitempty"`
	Parameters  []parameter         `json:"parameters,omitempty"`
	RequestBody *requestBody        `json:"requestBody,omitempty"`
	Responses   map[string]response `json:"responses"`
}

type parameter struct {
	Name        string             `json:"name"`
	In          string             `json:"in"`
	Description string             `json:"description,omitempty"`
	Required    bool               `json:"required,omitempty"`
	Style       string             `json:"style,omitempty"`
	Explode     *bool              `json:"explode,omitempty"`
	Example     json.RawMessage    `json:"example,omitempty"`
	Schema      *jsonschema.Schema `json:"schema"`
}

type requestBody struct {
	Required bool             `json:"required"`
	Content  map[string]media `json:"content"`
}

type response struct {
	Ref         string            `json:"$ref,omitempty"`
	Description string            `json:"description,omitempty"`
	Headers     map[string]header `json:"headers,omitempty"`
	Content     map[string]media  `json:"content,omitempty"`
}

type header struct {
	Description string             `json:"description"`
	Schema      *jsonschema.Schema `json:"schema"`
}

type media struct {
	Schema  *jsonschema.Schema `json:"schema"`
	Example json.RawMessage    `json:"example,omitempty"`
}

// Document writes the description. It is deterministic.
func Document(cfg Config) ([]byte, error) {
	d := document{
		OpenAPI:    "3.1.0",
		Info:       info{cfg.Title, Version, cfg.Description, license{"Apache License 2.0", "Apache-2.0"}},
		Security:   []struct{}{},
		Tags:       []Group{},
		Paths:      map[string]map[string]operation{},
		Components: components{Responses: responses()},
	}
	if cfg.PublicURL != "" {
		d.Servers = []server{{cfg.PublicURL}}
	}
	schemas := newSchemas(cfg)
	for _, o := range cfg.Operations {
		if o.Path == "" {
			continue
		}
		path := strings.ReplaceAll(o.Path, "...}", "}")
		if d.Paths[path] == nil {
			d.Paths[path] = map[string]operation{}
		}
		methods := []string{o.Method}
		if o.Post {
			methods = append(methods, http.MethodPost)
		}
		for i, method := range methods {
			if _, ok := d.Paths[path][strings.ToLower(method)]; ok {
				return nil, fmt.Errorf("openapi: %s: %s %s is taken", o.ID, method, o.Path)
			}
			described := describe(o, method, schemas)
			if i > 0 {
				described.OperationID += "_post"
			}
			d.Paths[path][strings.ToLower(method)] = described
		}
		named := func(g Group) bool { return g.Name == o.Group }
		if o.Group != "" && !slices.ContainsFunc(d.Tags, named) {
			tag := Group{Name: o.Group}
			if i := slices.IndexFunc(cfg.Groups, named); i >= 0 {
				tag = cfg.Groups[i]
			}
			d.Tags = append(d.Tags, tag)
		}
	}
	d.Components.Schemas = schemas.components
	return op.Encode(d)
}

func describe(o op.Operation, method string, s *schemas) operation {
	ok := response{Description: "The answer.", Content: map[string]media{}}
	if !slices.ContainsFunc(o.Forms, func(f op.Form) bool { return f.Only }) {
		ok.Content["application/json"] = media{Schema: s.of(o)}
	}
	for _, f := range o.Forms {
		name, _, _ := strings.Cut(f.Type, ";")
		ok.Content[name] = media{Schema: &jsonschema.Schema{Type: "string"}}
	}
	d := operation{
		OperationID: o.ID,
		Summary:     o.Summary,
		Description: o.Description,
		Responses:   map[string]response{"200": ok},
	}
	if o.Group != "" {
		d.Tags = []string{o.Group}
	}
	examples := o.ExampleValues()
	body := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, p := range o.Params {
		switch {
		case !p.REST:
		case p.Path || method != http.MethodPost:
			d.Parameters = append(d.Parameters, describeParam(p, examples[p.Name]))
		default:
			body.Properties[p.Name] = p.Schema
			body.PropertyOrder = append(body.PropertyOrder, p.Name)
			if p.Required {
				body.Required = append(body.Required, p.Name)
			}
		}
	}
	statuses := []int{504}
	if !o.Probe {
		statuses = append(statuses, 429)
	}
	if method == http.MethodPost {
		content := media{Schema: body}
		if len(examples) > 0 {
			content.Example, _ = json.Marshal(examples) // raw JSON always encodes
		}
		d.RequestBody = &requestBody{Required: true, Content: map[string]media{"application/json": content}}
		statuses = append(statuses, 413, 415)
	}
	if len(d.Parameters) > 0 || o.Probe { // a probe refuses nothing but too long an address
		statuses = append(statuses, 414)
	}
	if len(d.Parameters) > 0 || d.RequestBody != nil {
		statuses = append(statuses, 400)
	}
	if fails(o, op.ErrNotFound) {
		statuses = append(statuses, 404)
	}
	if fails(o, op.ErrUnavailable) || !o.BeforeReady {
		statuses = append(statuses, 503)
	}
	for _, status := range statuses {
		code := strconv.Itoa(status)
		d.Responses[code] = response{Ref: "#/components/responses/" + code}
	}
	return d
}

func fails(o op.Operation, kind error) bool {
	return slices.ContainsFunc(o.MayFail, func(e error) bool { return errors.Is(e, kind) })
}

func describeParam(p op.Param, example json.RawMessage) parameter {
	schema := *p.Schema
	schema.Description = "" // the parameter has it
	d := parameter{
		Name: p.Name, In: "query", Description: p.Doc, Required: p.Required, Example: example, Schema: &schema,
	}
	if p.Path {
		d.In = "path"
	}
	if schema.Type == "array" {
		d.Style, d.Explode = "form", new(false)
	}
	return d
}

// responses are the errors, which all have the same form.
func responses() map[string]response {
	integer := &jsonschema.Schema{Type: "integer"}
	retry := map[string]header{"Retry-After": {"Seconds to wait before the next try.", integer}}
	content := map[string]media{"application/json": {Schema: &jsonschema.Schema{Ref: "#/components/schemas/Error"}}}
	limits := map[string]header{
		"Retry-After":         retry["Retry-After"],
		"RateLimit-Limit":     {"Calls in a period.", integer},
		"RateLimit-Remaining": {"Calls left in it.", integer},
		"RateLimit-Reset":     {"Seconds until it ends.", integer},
	}
	return map[string]response{
		"400": {Description: "A parameter is malformed or out of range; the error names it.", Content: content},
		"404": {Description: "The id does not exist.", Content: content},
		"413": {Description: "The body is too large.", Content: content},
		"414": {Description: "The address is too long.", Content: content},
		"415": {Description: "The body is not JSON.", Content: content},
		"429": {Description: "The client has used up its calls.", Headers: limits, Content: content},
		"503": {Description: "There is no answer yet, or none at the moment.", Headers: retry, Content: content},
		"504": {Description: "The answer took too long.", Content: content},
	}
}
