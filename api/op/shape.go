package op

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/text/nearest"
)

// rowsName is the property of an answer that holds the rows of a list.
const rowsName = "items"

// shape is what a call wants of the rows of a list; zero: all of them, whole.
type shape struct {
	fields []string // of a row
	limit  int      // how many rows; 0: all
}

// The arguments of a shape.
var (
	fieldsArgument = &argument{name: "fields", typ: reflect.TypeFor[string](), list: true, maxItems: new(50),
		schema: &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}}
	limitArgument = &argument{name: "limit", typ: reflect.TypeFor[int](), form: formInteger, min: new(1.0), max: new(100.0),
		schema: &jsonschema.Schema{Type: "integer", Minimum: new(1.0), Maximum: new(100.0)}}
)

// addShape adds the arguments of a shape to a tool that answers with rows: fields, and limit if nothing else bounds a
// list. A thread goes on where it ends.
func (o *Operation) addShape() {
	if o.Tool == "" || len(rowFields(o.ToolOut)) == 0 {
		return
	}
	add := func(a *argument, published *jsonschema.Schema) {
		if !slices.Contains(o.arguments(), a.name) {
			addProperty(o.ToolIn, a.name, published, false)
			o.shapes = append(o.shapes, a)
		}
	}
	// Every model reads this of 50 tools: names with commas are said shorter than a list, which is read as well.
	add(fieldsArgument, &jsonschema.Schema{Type: "string"})
	if o.ToolOut.Properties[rowsName] != nil && !slices.Contains(o.arguments(), "cursor") {
		add(limitArgument, limitArgument.schema)
	}
}

// arguments returns the names of all that a tool takes.
func (o Operation) arguments() (names []string) {
	for _, p := range o.Params {
		if p.tool != nil {
			names = append(names, p.ToolName)
		}
	}
	for _, a := range o.shapes {
		names = append(names, a.name)
	}
	return names
}

// takeShape removes the arguments of a shape from the members of a call.
func (o Operation) takeShape(members map[string]json.RawMessage) (s shape, err error) {
	take := func(a *argument) (v reflect.Value, err error) {
		raw, given := members[a.name]
		if !given || !slices.Contains(o.shapes, a) {
			return v, nil
		}
		delete(members, a.name)
		if raw = a.meant(raw); raw == nil {
			return v, nil
		}
		return a.fromJSON(raw)
	}
	v, err := take(fieldsArgument)
	if err != nil {
		return s, err
	}
	if v.IsValid() {
		s.fields = v.Interface().([]string)
	}
	known := rowFields(o.ToolOut)
	for _, name := range s.fields {
		if slices.Contains(known, name) {
			continue
		}
		if near := nearest.Of(name, known); near != "" {
			return s, Invalid("fields: there is no field %s: did you mean %q?", Quote(name), near)
		}
		return s, Invalid("fields: there is no field %s: there are %s", Quote(name), strings.Join(known, ", "))
	}
	if v, err = take(limitArgument); v.IsValid() {
		s.limit = int(v.Int())
	}
	return s, err
}

// rowFields returns the fields of the rows that are anywhere in an answer.
func rowFields(s *jsonschema.Schema) (names []string) {
	if s == nil {
		return nil
	}
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		below := rowFields(p)
		if p.Items != nil {
			below = rowFields(p.Items)
			if name == rowsName {
				below = p.Items.PropertyOrder
			}
		}
		for _, field := range below {
			if !slices.Contains(names, field) {
				names = append(names, field)
			}
		}
	}
	return names
}

// write is EncodeTool of what the shape leaves.
func (s shape) write(answer any, schema *jsonschema.Schema) ([]byte, error) {
	raw, err := EncodeTool(answer)
	if err != nil || s.limit == 0 && len(s.fields) == 0 {
		return raw, err
	}
	return s.of(raw, schema), nil
}

// of leaves the rows in a value and their fields, in the order of the schema.
func (s shape) of(raw json.RawMessage, schema *jsonschema.Schema) json.RawMessage {
	if schema == nil {
		return raw
	}
	if list := []json.RawMessage(nil); schema.Items != nil && json.Unmarshal(raw, &list) == nil && list != nil {
		for i, item := range list {
			list[i] = s.of(item, schema.Items)
		}
		return join('[', list, ']')
	}
	var members map[string]json.RawMessage
	if len(rowFields(schema)) == 0 || json.Unmarshal(raw, &members) != nil || members == nil {
		return raw
	}
	var parts []json.RawMessage
	for _, name := range schema.PropertyOrder {
		value, ok := members[name]
		if !ok {
			continue
		}
		if p := schema.Properties[name]; name == rowsName && p.Items != nil && len(p.Items.PropertyOrder) > 0 {
			value = s.rows(value, p.Items)
		} else {
			value = s.of(value, p)
		}
		parts = append(parts, member(name, value))
	}
	return join('{', parts, '}')
}

func (s shape) rows(raw json.RawMessage, schema *jsonschema.Schema) json.RawMessage {
	var rows []json.RawMessage
	if json.Unmarshal(raw, &rows) != nil {
		return raw
	}
	if s.limit > 0 && len(rows) > s.limit {
		rows = rows[:s.limit]
	}
	for i, row := range rows {
		var fields map[string]json.RawMessage
		if len(s.fields) == 0 || json.Unmarshal(row, &fields) != nil {
			continue
		}
		var parts []json.RawMessage
		for _, name := range schema.PropertyOrder {
			if value, ok := fields[name]; ok && slices.Contains(s.fields, name) {
				parts = append(parts, member(name, value))
			}
		}
		rows[i] = join('{', parts, '}')
	}
	return join('[', rows, ']')
}

func member(name string, value json.RawMessage) json.RawMessage {
	return slices.Concat(quote(name), []byte(":"), value)
}

func join(open byte, parts []json.RawMessage, end byte) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte(open)
	for i, p := range parts {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(p)
	}
	b.WriteByte(end)
	return b.Bytes()
}
