package describe

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/api/op"
)

// Version of the API, not of the program.
const Version = "1.0.0"

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

// OpenAPI describes the REST operations as an OpenAPI 3.1.0 document. It is deterministic.
func OpenAPI(cfg Service) ([]byte, error) {
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
				return nil, fmt.Errorf("describe: %s: %s %s is taken", o.ID, method, o.Path)
			}
			described := operationOf(o, method, schemas)
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

func operationOf(o op.Operation, method string, s *schemas) operation {
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
			d.Parameters = append(d.Parameters, parameterOf(p, examples[p.Name]))
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

func parameterOf(p op.Param, example json.RawMessage) parameter {
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

// schemas turns the schemas of answers into components, one for each Go type.
type schemas struct {
	names      map[reflect.Type]string
	components map[string]*jsonschema.Schema
}

func newSchemas(cfg Service) *schemas {
	message := &jsonschema.Schema{Type: "string", Description: "What is wrong, for people."}
	s := &schemas{
		names: map[reflect.Type]string{},
		components: map[string]*jsonschema.Schema{"Error": {
			Type: "object", Properties: map[string]*jsonschema.Schema{"error": message}, Required: []string{"error"},
		}},
	}
	for _, o := range cfg.Operations {
		if o.Path != "" {
			eachType(o, o.Out, func(t reflect.Type) {
				if name := typeName(t.PkgPath(), t.Name(), cfg.Exact); name != "" {
					s.names[t] = name
				}
			})
		}
	}
	return s
}

func eachType(o op.Operation, s *jsonschema.Schema, visit func(reflect.Type)) {
	if s == nil {
		return
	}
	if t, ok := o.SchemaType(s); ok {
		visit(t)
	}
	for _, p := range s.Properties {
		eachType(o, p, visit)
	}
	eachType(o, s.Items, visit)
	eachType(o, s.AdditionalProperties, visit)
}

// typeName names a component after its Go type: cips.Row is CipsRow, and
// kb.List[almanac/api/cips.Row] is CipsRowList. A package below another of the
// API is part of it: kb/find.Hit is KbHit. The name does not depend on other
// types, so that adding one renames no component. "" is returned for types
// without a name.
func typeName(pkg, name string, exact []string) string {
	outer, arguments, generic := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	if !generic {
		if name == "" || slices.Contains(exact, name) {
			return name
		}
		if _, below, ok := strings.Cut(pkg, "/api/"); ok {
			pkg, _, _ = strings.Cut(below, "/")
		}
		return title(path.Base(pkg)) + title(name)
	}
	var b strings.Builder
	for argument := range strings.SplitSeq(arguments, ",") {
		dot := strings.LastIndexByte(argument, '.')
		b.WriteString(typeName(argument[:max(0, dot)], argument[dot+1:], exact))
	}
	return b.String() + title(outer)
}

func title(s string) string {
	if s == "" || s == "." {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// notBoolean adds a description to a schema that allows everything: without any
// keyword it would be encoded as true, which client generators refuse.
func notBoolean(s *jsonschema.Schema) *jsonschema.Schema {
	if s != nil && reflect.DeepEqual(*s, jsonschema.Schema{}) {
		s.Description = "Any JSON value."
	}
	return s
}

// of returns the schema of an operation's answer, by reference if possible.
func (s *schemas) of(o op.Operation) *jsonschema.Schema {
	return s.refer(o, o.Out)
}

// refer copies a schema with references for the types that have a name.
func (s *schemas) refer(o op.Operation, in *jsonschema.Schema) *jsonschema.Schema {
	if in == nil {
		return nil
	}
	t, ok := o.SchemaType(in)
	name := s.names[t]
	if !ok || name == "" {
		return s.inside(o, in)
	}
	if s.components[name] == nil {
		component := *in
		component.Description = "" // the field's, not the type's
		if component.Types != nil {
			component.Type, component.Types = "object", nil
		}
		s.components[name] = &component // before its parts, which may refer to it
		*s.components[name] = *s.inside(o, &component)
	}
	ref := &jsonschema.Schema{Ref: "#/components/schemas/" + name}
	if slices.Contains(in.Types, "null") {
		ref = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{ref, {Type: "null"}}}
	}
	ref.Description = in.Description
	return ref
}

// inside copies a schema with references in its parts.
func (s *schemas) inside(o op.Operation, in *jsonschema.Schema) *jsonschema.Schema {
	out := *in
	if in.Properties != nil {
		out.Properties = make(map[string]*jsonschema.Schema, len(in.Properties))
		for name, p := range in.Properties {
			out.Properties[name] = notBoolean(s.refer(o, p))
		}
	}
	out.Items = notBoolean(s.refer(o, in.Items))
	out.AdditionalProperties = s.refer(o, in.AdditionalProperties)
	return &out
}
