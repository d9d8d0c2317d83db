package options

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// Field is a key that the mapping of a struct may have: one of its fields, or of
// a struct that is inline in it.
type Field struct {
	Name     string
	Type     reflect.Type
	Doc      string
	Format   string // of a text: a key of formats
	Enum     []string
	Min      string // least number or time
	Required bool
	Unique   string // the field in which no two entries of a list are the same; of a list of texts: true

	index []int
}

// Enumerated is a text type with a list of values, for lists too long for a tag.
type Enumerated interface{ Values() []string }

// Fields lists the fields of a struct, by their yaml tags or else their json tags.
// A json field without omitempty is required unless it is a list, and one named url
// is an address.
func Fields(t reflect.Type) []Field { return fieldsOf(t, nil) }

func fieldsOf(t reflect.Type, at []int) (list []Field) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, index := f.Tag.Get, append(slices.Clone(at), i)
		name, rest, _ := strings.Cut(cmp.Or(tag("yaml"), tag("json")), ",")
		switch {
		case strings.Contains(rest, "inline"):
			list = append(list, fieldsOf(f.Type, index)...)
			continue
		case name == "" || name == "-":
			continue
		}
		field := Field{
			Name: name, Type: f.Type, index: index, Doc: tag("jsonschema"), Format: tag("format"), Min: tag("min"),
			Required: tag("required") == "true", Unique: tag("unique"),
		}
		if tag("yaml") == "" {
			field.Required = f.Type.Kind() != reflect.Slice && !strings.Contains(rest, "omitempty")
			if name == "url" {
				field.Format = "address"
			}
		}
		if enum := tag("enum"); enum != "" {
			field.Enum = strings.Split(enum, "|")
		} else if e, ok := reflect.Zero(f.Type).Interface().(Enumerated); ok {
			field.Enum = e.Values()
		}
		list = append(list, field)
	}
	return list
}

// IsPath reports whether the text is a path, in the network's folder or absolute.
func (f Field) IsPath() bool { return f.Format == "path" || f.Format == "file" }

// In returns the field of a struct.
func (f Field) In(v reflect.Value) reflect.Value { return v.FieldByIndex(f.index) }

// Names returns the names of fields.
func Names(fields []Field) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}

// find returns the field with a name; false if there is none.
func find(fields []Field, name string) (Field, bool) {
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	if i < 0 {
		return Field{}, false
	}
	return fields[i], true
}

// each returns the type of what a list or mapping of a type holds, and that of a
// pointer's target: whatever structs are inside.
func each(t reflect.Type) reflect.Type {
	for t != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		t = t.Elem()
	}
	return t
}
