package openapi

import (
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/api/op"
)

// schemas turns the schemas of answers into components, one for each Go type.
type schemas struct {
	names      map[reflect.Type]string
	components map[string]*jsonschema.Schema
}

// newSchemas names the types: by their Go name, and where two have the same
// one, by that of the package too.
func newSchemas(ops []op.Operation) *schemas {
	s := &schemas{
		names: map[reflect.Type]string{},
		components: map[string]*jsonschema.Schema{"Error": {
			Type:       "object",
			Properties: map[string]*jsonschema.Schema{"error": {Type: "string", Description: "What is wrong, for people."}},
			Required:   []string{"error"},
		}},
	}
	byName := map[string][]reflect.Type{"Error": {nil}}
	for _, o := range ops {
		if o.Path == "" {
			continue
		}
		eachType(o, o.Out, func(t reflect.Type) {
			if name := typeName(t); name != "" && !slices.Contains(byName[name], t) {
				byName[name] = append(byName[name], t)
			}
		})
	}
	for name, types := range byName {
		for _, t := range types {
			if t == nil {
				continue
			}
			s.names[t] = name
			if len(types) > 1 {
				s.names[t] = title(path.Base(t.PkgPath())) + name
			}
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

// packages are the import paths in the name of an instantiated generic type.
var packages = regexp.MustCompile(`[\w./-]*[./]`)

var punctuation = regexp.MustCompile(`[^\w]+`)

// typeName is a Go type's name as a component's: List[almanac/api/cips.Row]
// is ListRow. Types without a name have none.
func typeName(t reflect.Type) string {
	var b strings.Builder
	for _, word := range punctuation.Split(packages.ReplaceAllString(t.Name(), ""), -1) {
		b.WriteString(title(word))
	}
	return b.String()
}

func title(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// of is the schema of an operation's answer, by reference where it can be.
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
		s.components[name] = &component // before its parts, which may name it
		*s.components[name] = *s.inside(o, &component)
	}
	ref := &jsonschema.Schema{Ref: "#/components/schemas/" + name}
	if slices.Contains(in.Types, "null") {
		ref = &jsonschema.Schema{AnyOf: []*jsonschema.Schema{ref, {Type: "null"}}}
	}
	ref.Description = in.Description
	return ref
}

// inside copies a schema and refers to types in its parts.
func (s *schemas) inside(o op.Operation, in *jsonschema.Schema) *jsonschema.Schema {
	out := *in
	if in.Properties != nil {
		out.Properties = make(map[string]*jsonschema.Schema, len(in.Properties))
		for name, p := range in.Properties {
			out.Properties[name] = s.refer(o, p)
		}
	}
	out.Items = s.refer(o, in.Items)
	out.AdditionalProperties = s.refer(o, in.AdditionalProperties)
	return &out
}
