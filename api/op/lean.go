package op

import (
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Leaner is a part of an answer that says some things twice. Lean empties the
// fields that a model needs not read; they have omitempty or omitzero, and
// required:"true" if REST always has them. It is called on a copy, and more than
// once if it is promoted: calling it again changes nothing.
type Leaner interface{ Lean() }

var leanerType = reflect.TypeFor[Leaner]()

// lean copies the schema of an answer for tools: a field that REST always has
// though it may be omitted is optional there.
func lean(s *jsonschema.Schema, types map[*jsonschema.Schema]reflect.Type) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	c := *s
	if t, ok := types[s]; ok {
		c.Required = slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool {
			f, ok := fieldNamed(t, name)
			return ok && f.Tag.Get("required") == "true"
		})
	}
	if s.Properties != nil {
		c.Properties = make(map[string]*jsonschema.Schema, len(s.Properties))
		for name, p := range s.Properties {
			c.Properties[name] = lean(p, types)
		}
	}
	c.Items = lean(s.Items, types)
	c.AdditionalProperties = lean(s.AdditionalProperties, types)
	return &c
}

func fieldNamed(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous && jsonName(f) == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}
