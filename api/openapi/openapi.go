// Package openapi describes the REST operations as an OpenAPI 3.1.0 document.
// It imports nothing of ours but op.
package openapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/api/op"
)

// Version of the API, which is not that of the program.
const Version = "1.0.0"

// Config of a document.
type Config struct {
	Title       string
	Description string
	PublicURL   string // the only server; "" = none is named
	Operations  []op.Operation
}

type document struct {
	OpenAPI    string                          `json:"openapi"`
	Info       info                            `json:"info"`
	Servers    []server                        `json:"servers,omitempty"`
	Tags       []tag                           `json:"tags"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components components                      `json:"components"`
}

type info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
}

type server struct {
	URL string `json:"url"`
}

type tag struct {
	Name string `json:"name"`
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
	Schema *jsonschema.Schema `json:"schema"`
}

// Document writes the description. The same operations give the same bytes.
func Document(cfg Config) ([]byte, error) {
	d := document{
		OpenAPI:    "3.1.0",
		Info:       info{cfg.Title, Version, cfg.Description},
		Tags:       []tag{},
		Paths:      map[string]map[string]operation{},
		Components: components{Responses: responses()},
	}
	if cfg.PublicURL != "" {
		d.Servers = []server{{cfg.PublicURL}}
	}
	schemas := newSchemas(cfg.Operations)
	for _, o := range cfg.Operations {
		if o.Path == "" {
			continue
		}
		path, method := strings.ReplaceAll(o.Path, "...}", "}"), strings.ToLower(o.Method)
		if d.Paths[path] == nil {
			d.Paths[path] = map[string]operation{}
		}
		if _, ok := d.Paths[path][method]; ok {
			return nil, fmt.Errorf("openapi: %s: %s %s is taken", o.ID, o.Method, o.Path)
		}
		d.Paths[path][method] = describe(o, schemas)
		if o.Group != "" && !slices.Contains(d.Tags, tag{o.Group}) {
			d.Tags = append(d.Tags, tag{o.Group})
		}
	}
	d.Components.Schemas = schemas.components
	return op.Encode(d)
}

func describe(o op.Operation, s *schemas) operation {
	d := operation{
		OperationID: o.ID,
		Summary:     o.Summary,
		Description: o.Description,
		Responses: map[string]response{
			"200": {Description: "The answer.", Content: map[string]media{"application/json": {s.of(o)}}},
			"429": {Ref: "#/components/responses/429"},
		},
	}
	if o.Group != "" {
		d.Tags = []string{o.Group}
	}
	body := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, p := range o.Params {
		switch {
		case !p.REST:
		case p.Path || o.Method != http.MethodPost:
			d.Parameters = append(d.Parameters, describeParam(p))
		default:
			body.Properties[p.Name] = p.Schema
			body.PropertyOrder = append(body.PropertyOrder, p.Name)
			if p.Required {
				body.Required = append(body.Required, p.Name)
			}
		}
	}
	statuses := []int{}
	if o.Method == http.MethodPost {
		d.RequestBody = &requestBody{Required: true, Content: map[string]media{"application/json": {body}}}
		statuses = append(statuses, 413, 415)
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

func describeParam(p op.Param) parameter {
	schema := *p.Schema
	schema.Description = "" // said beside it
	d := parameter{Name: p.Name, In: "query", Description: p.Doc, Required: p.Required, Schema: &schema}
	if p.Path {
		d.In = "path"
	}
	if schema.Type == "array" {
		d.Style, d.Explode = "form", new(false)
	}
	return d
}

// responses are the errors, which all have one form.
func responses() map[string]response {
	integer := &jsonschema.Schema{Type: "integer"}
	retry := map[string]header{"Retry-After": {"Seconds to wait before the next try.", integer}}
	content := map[string]media{"application/json": {&jsonschema.Schema{Ref: "#/components/schemas/Error"}}}
	limits := map[string]header{
		"Retry-After":         retry["Retry-After"],
		"RateLimit-Limit":     {"Calls in a period.", integer},
		"RateLimit-Remaining": {"Calls left in it.", integer},
		"RateLimit-Reset":     {"Seconds until it ends.", integer},
	}
	return map[string]response{
		"400": {Description: "A parameter is malformed or out of range; the error names it.", Content: content},
		"404": {Description: "Nothing has this id.", Content: content},
		"413": {Description: "The body is too large.", Content: content},
		"415": {Description: "The body is not JSON.", Content: content},
		"429": {Description: "The client has used up its calls.", Headers: limits, Content: content},
		"503": {Description: "The answer is not there yet.", Headers: retry, Content: content},
	}
}
