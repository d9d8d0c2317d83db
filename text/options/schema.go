package options

import (
	"reflect"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// DurationPattern is the form of a duration such as 15m, 24h or 1h30m.
const DurationPattern = `^([0-9]+(\.[0-9]+)?(h|m|s|ms|us|µs|ns))+$|^0$`

// Schema returns the JSON Schema of a type, as a loose Decoder or a strict one reads
// it. It accepts what that accepts, and what a Check rejects.
func Schema(t reflect.Type, loose bool) *jsonschema.Schema { return schemaOf(t, Field{}, loose) }

func schemaOf(t reflect.Type, f Field, loose bool) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	switch {
	case t == durationType:
		s.Type, s.Pattern = "string", DurationPattern
	case t.Kind() == reflect.Pointer:
		return schemaOf(t.Elem(), f, loose)
	case t.Kind() == reflect.Struct:
		s.Type, s.Properties = "object", map[string]*jsonschema.Schema{}
		s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		for _, field := range Fields(t) {
			s.Properties[field.Name] = schemaOf(field.Type, field, loose)
			s.Properties[field.Name].Description = field.Doc
			if !loose {
				s.PropertyOrder = append(s.PropertyOrder, field.Name)
			}
			if field.Required {
				s.Required = append(s.Required, field.Name)
			}
		}
	case t.Kind() == reflect.Map:
		s.Type, s.AdditionalProperties = "object", schemaOf(t.Elem(), f, loose)
	case t.Kind() == reflect.Slice:
		s.Type, s.Items = "array", schemaOf(t.Elem(), f, loose)
	case t.Kind() == reflect.String:
		if s.Type = "string"; loose {
			s.Type, s.Types = "", []string{"string", "number", "boolean"} // YAML reads 1.0 and yes as such
		} else {
			s.Pattern, s.Format = formats[f.Format].pattern, formats[f.Format].schema
		}
		for _, value := range f.Enum {
			s.Enum = append(s.Enum, value)
		}
	case t.Kind() == reflect.Bool:
		s.Type = "boolean"
	case t.Kind() == reflect.Float64:
		s.Type = "number"
	default:
		s.Type = "integer"
		if least, err := strconv.ParseFloat(f.Min, 64); err == nil {
			s.Minimum = &least
		}
	}
	return s
}
