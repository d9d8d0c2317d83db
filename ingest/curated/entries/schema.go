package entries

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema returns the JSON Schema of a YAML file of such entries, for editors.
func Schema[T any](title string) ([]byte, error) {
	s, err := jsonschema.For[[]T](nil)
	if err != nil {
		return nil, fmt.Errorf("entries: schema: %w", err)
	}
	refine(s, reflect.TypeFor[[]T](), rule{})
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = title
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("entries: schema: %w", err)
	}
	return append(out, '\n'), nil
}

// refine applies the struct tags to a schema.
func refine(s *jsonschema.Schema, t reflect.Type, r rule) {
	switch t.Kind() {
	case reflect.Pointer:
		s.Type, s.Types = s.Types[len(s.Types)-1], nil // one of them is null
	case reflect.Slice:
		s.Type, s.Types = "array", nil
		refine(s.Items, t.Elem(), r)
	case reflect.Struct:
		s.Required = nil
		for _, f := range fields(t) {
			if f.required {
				s.Required = append(s.Required, f.name)
			}
			refine(s.Properties[f.name], t.Field(f.index).Type, f.rule)
		}
	case reflect.String:
		for _, e := range r.enum {
			s.Enum = append(s.Enum, e)
		}
		if f, ok := formats[r.format]; ok {
			s.Pattern, s.Format = f.pattern, f.schema
		}
	}
}
