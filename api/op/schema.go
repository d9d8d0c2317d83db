package op

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// known are the types whose JSON is not what their Go kind suggests.
var known = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
}

// SchemaType tells the Go type behind a schema of Out or of one of its parts,
// so that descriptions can name what they share.
func (o Operation) SchemaType(s *jsonschema.Schema) (reflect.Type, bool) {
	t, ok := o.types[s]
	return t, ok
}

// schema infers the schema of an answer: arrays are never null, pointers are
// nullable, and field tags add documentation and constraints.
func (o Operation) schema(t reflect.Type) *jsonschema.Schema {
	if t.Kind() == reflect.Pointer { // an answer is never null
		t = t.Elem()
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		o.fail("%v", err)
	}
	o.describe(s, t)
	return s
}

// describe walks a schema beside the type it was inferred from.
func (o Operation) describe(s *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if known[t] != nil {
		return
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if slices.Contains(s.Types, "array") {
			s.Type, s.Types = "array", nil
		}
		o.describe(s.Items, t.Elem())
	case reflect.Map:
		o.describe(s.AdditionalProperties, t.Elem())
	case reflect.Struct:
		o.types[s] = t
		for _, f := range reflect.VisibleFields(t) {
			p := s.Properties[jsonName(f)]
			if p == nil || f.Anonymous {
				continue
			}
			o.describe(p, f.Type)
			if err := constrain(p, f.Tag, ""); err != nil {
				o.fail("%s.%s: %v", t, f.Name, err)
			}
		}
	}
}

// jsonName is the name encoding/json gives a field; "" for none.
func jsonName(f reflect.StructField) string {
	tag := f.Tag.Get("json")
	if tag == "-" || !f.IsExported() {
		return ""
	}
	name, _, _ := strings.Cut(tag, ",")
	if name == "" && !f.Anonymous {
		name = f.Name
	}
	return name
}

// constrain adds what a field's tags say to its schema; a tag with the prefix
// replaces the one without.
func constrain(s *jsonschema.Schema, tag reflect.StructTag, prefix string) error {
	item := s
	if s.Items != nil {
		item = s.Items
	}
	for _, key := range []string{"doc", "default", "minimum", "maximum", "maxItems", "maxLength", "enum", "pattern", "format"} {
		v, ok := tag.Lookup(prefix + key)
		if !ok {
			v, ok = tag.Lookup(key)
		}
		if !ok {
			continue
		}
		if err := set(s, item, key, v); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// set puts one tag into a schema, or into that of its items.
func set(s, item *jsonschema.Schema, key, v string) (err error) {
	switch key {
	case "doc":
		s.Description = v
	case "default":
		s.Default, err = defaultJSON(s, v)
	case "minimum":
		item.Minimum, err = number(v)
	case "maximum":
		item.Maximum, err = number(v)
	case "maxItems":
		s.MaxItems, err = count(v)
	case "maxLength":
		item.MaxLength, err = count(v)
	case "enum":
		item.Enum = nil
		for e := range strings.SplitSeq(v, ",") {
			item.Enum = append(item.Enum, e)
		}
		if slices.Contains(item.Types, "null") {
			item.Enum = append(item.Enum, nil)
		}
	case "pattern":
		item.Pattern = v
	case "format":
		item.Format = v
	}
	return err
}

func defaultJSON(s *jsonschema.Schema, v string) (json.RawMessage, error) {
	if s.Type == "string" {
		return json.Marshal(v)
	}
	if !json.Valid([]byte(v)) {
		return nil, fmt.Errorf("%q is no JSON", v)
	}
	return json.RawMessage(v), nil
}

func number(v string) (*float64, error) {
	n, err := strconv.ParseFloat(v, 64)
	return &n, err
}

func count(v string) (*int, error) {
	n, err := strconv.Atoi(v)
	return &n, err
}
