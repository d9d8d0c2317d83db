package op

import (
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// params reads the fields of In into Params and the schemas In and ToolIn.
func (o *Operation) params() {
	if o.in.Kind() != reflect.Struct {
		o.fail("In is %s, want a struct", o.in)
	}
	open := pathNames(o.Path)
	o.In = &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	// Every model reads the schemas of all tools, so they are short: that other
	// arguments are refused is not in them (checkKnown).
	o.ToolIn = &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, f := range reflect.VisibleFields(o.in) {
		name := jsonName(f)
		if name == "" || f.Anonymous {
			continue
		}
		p := o.param(f, name)
		if i := slices.Index(open, name); i >= 0 && p.REST {
			p.Path, p.Required, p.rest.required = true, true, true
			open = slices.Delete(open, i, i+1)
		}
		if p.REST {
			addProperty(o.In, p.Name, p.Schema, p.Required)
		}
		if p.ToolName != "" && f.Tag.Get("unlisted") != "true" {
			addProperty(o.ToolIn, p.ToolName, p.tool.schema, p.tool.required)
		}
		o.Params = append(o.Params, p)
	}
	if len(open) > 0 {
		o.fail("path parameter %s is not a field of %s", open[0], o.in)
	}
}

func addProperty(to *jsonschema.Schema, name string, s *jsonschema.Schema, required bool) {
	to.Properties[name] = s
	to.PropertyOrder = append(to.PropertyOrder, name)
	if required {
		to.Required = append(to.Required, name)
	}
}

// obvious are descriptions that say what the name does; tools are published
// without them.
var obvious = map[string]string{"limit": "how many to return", "offset": "how many to skip"}

// param reads one field.
func (o *Operation) param(f reflect.StructField, name string) Param {
	p := Param{Name: name, index: f.Index}
	if o.Tool != "" && f.Tag.Get("tool") != "-" {
		p.ToolName = name
		if other := f.Tag.Get("tool"); other != "" {
			p.ToolName = other
		}
		p.tool = o.argument(f, p.ToolName, "tool")
		if p.tool.schema.Description == obvious[p.ToolName] {
			p.tool.schema.Description = ""
		}
	}
	p.rest = o.argument(f, name, "")
	p.Schema, p.Doc, p.Default = p.rest.schema, p.rest.schema.Description, p.rest.schema.Default
	p.Required = p.rest.required
	p.REST = o.Path != "" && f.Tag.Get("rest") != "-"
	return p
}

// pathNames lists the parameters in a path such as /cips/{id}.
func pathNames(path string) []string {
	var names []string
	for seg := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(seg, "{") && strings.HasSuffix(seg, "}") {
			names = append(names, strings.TrimSuffix(seg[1:len(seg)-1], "..."))
		}
	}
	return names
}
