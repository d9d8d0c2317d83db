// Package reference describes the REST operations in the words of a page for people:
// parameters with their constraints, a request to copy, the fields of an answer.
package reference

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/api/op"
	"almanac/api/openapi"
)

// Config of the description.
type Config struct {
	PublicURL  string
	Operations []op.Operation
	Groups     []openapi.Group // in their order
}

// Group is a group of operations; its title is what it is about.
type Group struct {
	Name, Title string
	Operations  []Operation
}

// Operation is an address with what one may ask there.
type Operation struct {
	ID, Method, Path string
	Title            string
	Summary          string
	Description      string
	Notes            []string // what else to know: the tool, media types
	ParamsTitle      string
	Params           []Param
	Fields           []Field // of the answer
	Example          string  // address; "" = none
	Request          string  // by curl, or on the command line if REST does not serve the operation
	Posted           string  // the same by POST; "" = it has no other method
	Try              bool    // it has a form
	NeedsScript      bool    // that a browser cannot send by itself
	Action           string  // of the form, with its {parameters}; "" = REST does not serve the operation
	Of               op.Operation
}

// Field is a part of an answer: items.*.title.
type Field struct{ Name, Kind, Doc string }

// Groups describes the operations that REST serves, by group.
func Groups(cfg Config) (out []Group) {
	for _, g := range cfg.Groups {
		described := Group{Name: g.Name, Title: cmp.Or(strings.TrimSuffix(g.Description, "."), g.Name)}
		for _, o := range cfg.Operations {
			if o.Path != "" && o.Group == g.Name {
				described.Operations = append(described.Operations, Describe(cfg.PublicURL, o))
			}
		}
		if len(described.Operations) > 0 {
			out = append(out, described)
		}
	}
	return out
}

// address is where the server is.
type address struct{ public, prefix string }

// Describe describes an operation of the server at a public URL, as REST serves it or as a tool.
func Describe(publicURL string, o op.Operation) Operation {
	at := address{public: publicURL}
	if u, err := url.Parse(publicURL); err == nil {
		at.prefix = u.Path
	}
	out := Operation{
		ID: o.ID, Method: o.Method, Path: strings.ReplaceAll(o.Path, "...}", "}"), Summary: o.Summary,
		Title: cmp.Or(o.Title, strings.TrimSuffix(o.Summary, ".")), Description: o.Description,
		ParamsTitle: "Parameters", Fields: fields(o.Out, "", 2),
		Try: o.Method == http.MethodGet, Of: o,
	}
	if o.Path != "" {
		out.Action = at.prefix + o.Path
	}
	if o.Method == http.MethodPost {
		out.ParamsTitle = "Members of the JSON body"
	}
	if o.Tool != "" {
		out.Notes = append(out.Notes, "as a tool: "+o.Tool)
	}
	for _, f := range o.Forms {
		name, _, _ := strings.Cut(f.Type, ";")
		if f.Only {
			name = "always " + name
			out.Fields = nil
		} else {
			name = "also as " + name
		}
		out.Notes = append(out.Notes, name)
	}
	examples := o.ExampleValues()
	for _, p := range o.NamedParams() {
		shown := newParam(p, examples[p.Name])
		out.Params = append(out.Params, shown)
		out.NeedsScript = out.NeedsScript || o.Path != "" && (p.Path || shown.mayNotBeEmpty())
	}
	if o.Path != "" {
		out.request(at)
		return out
	}
	line := []string{"almanac", "tools", "call", o.Tool}
	if in, ok := o.ExampleInput(); ok {
		line = append(line, o.Line(in)...)
	}
	out.Request = op.Shell(line...)
	return out
}

// request fills the example and its curl lines. Without an example the line has the
// address as it is documented.
func (out *Operation) request(at address) {
	target, body := out.Path, "{}"
	in, ok := out.Of.ExampleInput()
	if ok {
		filled, raw := out.Of.Target(in)
		target = filled
		if out.Method == http.MethodPost {
			body = string(raw)
		} else {
			out.Example = at.prefix + filled
		}
	}
	out.Request = op.Shell("curl", at.public+target)
	posted := func(target, body string) string {
		return op.Shell("curl", at.public+target, "-H", "Content-Type: application/json", "-d", body)
	}
	if out.Method == http.MethodPost {
		out.Request = posted(target, body)
	}
	if out.Of.Post {
		if ok {
			body = string(jsonOf(out.Of))
		}
		out.Posted = posted(out.Path, body)
	}
}

// fields lists the parts of an answer, down to a depth.
func fields(s *jsonschema.Schema, within string, depth int) (out []Field) {
	for s != nil && s.Items != nil {
		s, within = s.Items, within+"*."
	}
	if s == nil || depth == 0 {
		return nil
	}
	names := s.PropertyOrder
	if len(names) != len(s.Properties) {
		names = slices.Sorted(maps.Keys(s.Properties))
	}
	for _, name := range names {
		p := s.Properties[name]
		if p == nil {
			continue
		}
		out = append(out, Field{Name: within + name, Kind: kindOf(p), Doc: p.Description})
		if p.Items != nil && p.Items.Properties != nil || p.Properties != nil {
			out = append(out, fields(p, within+name+".", depth-1)...)
		}
	}
	return out
}

// kindOf says what a part of an answer is.
func kindOf(s *jsonschema.Schema) string {
	if s.Items != nil {
		return "list of " + cmp.Or(kindOf(s.Items), "value") + "s"
	}
	return cmp.Or(s.Format, s.Type, strings.Join(s.Types, " or "))
}
