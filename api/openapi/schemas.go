package openapi

import (
	"path"
	"reflect"
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

func newSchemas(cfg Config) *schemas {
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
