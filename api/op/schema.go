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

// known are the types whose JSON differs from what their Go kind suggests.
var known = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[[]byte]():          {Type: "string", ContentEncoding: "base64"},
}

// SchemaType returns the Go type of a schema of Out or of one of its parts, so
// that descriptions can share named components.
func (o Operation) SchemaType(s *jsonschema.Schema) (reflect.Type, bool) {
	t, ok := o.types[s]
	return t, ok
}

// schema infers the schema of an answer: arrays are never null, pointers are
// nullable, and tags add documentation and constraints. A field that
// encoding/json may omit is optional unless it is tagged required:"true": REST
// always has fields that only Lean empties.
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

// describe walks a schema together with the type it was inferred from.
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
			if err := constrain(p, o.tagsOf(f, "")); err != nil {
				o.fail("%s.%s: %v", t, f.Name, err)
			}
			if name := jsonName(f); f.Tag.Get("required") == "true" && !slices.Contains(s.Required, name) {
				s.Required = append(s.Required, name)
			}
		}
	}
}

// jsonName returns the name of a field in JSON; "" if it has none.
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

// Constrained is a named type of arguments or answers that has constraints,
// written as the tags of a field. A field's own tags override them.
type Constrained interface{ Constraints() reflect.StructTag }

// tags are the constraints of a field: its own, else those of its type. In
// each, a tag with the prefix overrides the one without.
type tags struct {
	field, typ reflect.StructTag
	prefix     string
	words      *strings.Replacer
}

func (s Spec) tagsOf(f reflect.StructField, prefix string) tags {
	t := f.Type
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice && known[t] == nil {
		t = t.Elem()
	}
	all := tags{field: f.Tag, prefix: prefix, words: s.Words}
	if c, ok := reflect.Zero(t).Interface().(Constrained); ok {
		all.typ = c.Constraints()
	}
	return all
}

// lookup returns a tag's value with the placeholders replaced.
func (t tags) lookup(key string) (string, bool) {
	for _, tag := range []reflect.StructTag{t.field, t.typ} {
		for _, k := range []string{t.prefix + key, key} {
			v, ok := tag.Lookup(k)
			if ok && t.words != nil {
				v = t.words.Replace(v)
			}
			if ok {
				return v, true
			}
		}
	}
	return "", false
}

// constrain adds the constraints of a field to its schema.
func constrain(s *jsonschema.Schema, t tags) error {
	item := s
	if s.Items != nil {
		item = s.Items
	}
	for _, key := range []string{
		"doc", "type", "default", "minimum", "maximum", "maxItems", "maxLength", "enum", "pattern", "format",
	} {
		v, ok := t.lookup(key)
		if !ok || v == "" {
			continue
		}
		if err := applyTag(s, item, key, v); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// applyTag applies one tag to a schema, or to that of its items.
func applyTag(s, item *jsonschema.Schema, key, v string) (err error) {
	switch key {
	case "doc":
		s.Description = v
	case "type": // or several, separated by commas
		if item.Type, item.Types = v, nil; strings.Contains(v, ",") {
			item.Type, item.Types = "", strings.Split(v, ",")
		}
	case "default":
		s.Default, err = defaultJSON(s, v)
	case "minimum":
		item.Minimum, err = parseNumber(v)
	case "maximum":
		item.Maximum, err = parseNumber(v)
	case "maxItems":
		s.MaxItems, err = parseCount(v)
	case "maxLength":
		item.MaxLength, err = parseCount(v)
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
		return nil, fmt.Errorf("%q is not JSON", v)
	}
	return json.RawMessage(v), nil
}

func parseNumber(v string) (*float64, error) {
	n, err := strconv.ParseFloat(v, 64)
	return &n, err
}

func parseCount(v string) (*int, error) {
	n, err := strconv.Atoi(v)
	return &n, err
}
