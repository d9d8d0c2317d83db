package ingest

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"almanac/catalog/network"
)

// optionsProbe is an option that no file can have. If it is set, DecodeOptions
// returns the struct to decode into, as a probed error: so the known options of
// a kind are those its constructor reads.
const optionsProbe = "\x00type"

// probed is the error that carries the options struct with its defaults.
type probed struct{ options reflect.Value }

func (p *probed) Error() string { return "options are of type " + p.options.Type().String() }

// probe returns the struct that a kind's constructor decodes options into, and
// false if the kind has no fixed options.
func (r Registry) probe(kind string) (reflect.Value, bool) {
	construct, ok := r[kind]
	if !ok {
		return reflect.Value{}, false
	}
	src := network.Source{Name: kind, Kind: kind, Options: map[string]any{optionsProbe: nil}}
	_, err := construct(src, Environment{Now: time.Now})
	p, ok := errors.AsType[*probed](err)
	if !ok {
		return reflect.Value{}, false
	}
	return p.options, true
}

// Schemas returns the JSON Schemas of connector options by kind, for the kinds
// with fixed options.
func (r Registry) Schemas() map[string]*jsonschema.Schema {
	schemas := map[string]*jsonschema.Schema{}
	for _, kind := range slices.Sorted(maps.Keys(r)) {
		if options, ok := r.probe(kind); ok {
			schemas[kind] = optionSchema(options.Type())
		}
	}
	return schemas
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	unmarshaler  = reflect.TypeFor[yaml.Unmarshaler]()
)

// optionSchema is the schema of a type with yaml tags. Like DecodeOptions, it
// rejects unknown keys.
func optionSchema(t reflect.Type) *jsonschema.Schema {
	switch {
	case t == durationType:
		return &jsonschema.Schema{Type: "string", Pattern: network.DurationPattern}
	case reflect.PointerTo(t).Implements(unmarshaler): // it may have several forms
		return &jsonschema.Schema{}
	case t.Kind() == reflect.Pointer:
		return optionSchema(t.Elem())
	}
	switch t.Kind() {
	case reflect.Struct:
		s := &jsonschema.Schema{
			Type:                 "object",
			Properties:           map[string]*jsonschema.Schema{},
			AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		}
		addFields(s, t)
		return s
	case reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: optionSchema(t.Elem())}
	case reflect.Slice, reflect.Array:
		return &jsonschema.Schema{Type: "array", Items: optionSchema(t.Elem())}
	case reflect.String:
		return &jsonschema.Schema{Types: []string{"string", "number", "boolean"}} // YAML reads 1.0 and yes as such
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &jsonschema.Schema{Type: "integer"}
	case reflect.Float32, reflect.Float64:
		return &jsonschema.Schema{Type: "number"}
	}
	return &jsonschema.Schema{}
}

func addFields(s *jsonschema.Schema, t reflect.Type) {
	for field := range t.Fields() {
		name, rest, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case strings.Contains(rest, "inline"):
			addFields(s, field.Type)
		case name != "" && name != "-":
			s.Properties[name] = optionSchema(field.Type)
		}
	}
}
