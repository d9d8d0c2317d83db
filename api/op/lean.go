package op

import (
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Leaner is a part of an answer with redundant fields. Lean empties those that
// a model need not read; they have omitempty or omitzero, and required:"true" if
// REST always has them. It is called on a copy, more than once if it is
// promoted, so it must be idempotent.
type Leaner interface{ Lean() }

var leanerType = reflect.TypeFor[Leaner]()

// lean copies the schema of an answer for tools, where fields that Lean may
// empty are optional although REST always has them.
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
