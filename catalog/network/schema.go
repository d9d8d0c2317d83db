package network

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/text/options"
)

// Schema returns the JSON Schema of a network file, generated from Network, for
// editors and other tools. kinds are the schemas of the options of each
// kind of source. The schema accepts every file that Parse and the connectors
// accept; they also check what a schema cannot express (unique names, status
// targets).
func Schema(kinds map[string]*jsonschema.Schema) ([]byte, error) {
	s, err := jsonschema.For[Network](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Duration](): {Type: "string", Pattern: options.DurationPattern},
		reflect.TypeFor[options.Node]():  {Type: "object", AdditionalProperties: &jsonschema.Schema{}},
	}})
	if err != nil {
		return nil, fmt.Errorf("network: schema: %w", err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "almanac network file"
	s.Properties["name"].Pattern = namePattern
	s.Properties["partner"].Pattern = namePattern
	place := s.Properties["community"].Items.Properties["kind"]
	for _, kind := range PlaceKinds {
		place.Enum = append(place.Enum, kind)
	}
	s.Properties["proposals"].Properties["prefix"].Pattern = prefixPattern
	for _, role := range s.Properties["toolchain"].Properties {
		role.Pattern = publishedPattern
	}
	digits := s.Properties["proposals"].Properties["digits"]
	digits.Minimum, digits.Maximum = new(1.0), new(float64(MaxDigits))
	source := s.Properties["sources"].Items
	source.Properties["name"].Pattern = namePattern
	statuses := s.Properties["proposals"].Properties["status_map"].AdditionalProperties
	for _, status := range Statuses {
		statuses.Enum = append(statuses.Enum, status)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		source.Properties["kind"].Enum = append(source.Properties["kind"].Enum, kind)
		source.AllOf = append(source.AllOf, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"kind": {Const: new(any(kind))}}},
			Then: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"options": kinds[kind]}},
		})
	}
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("network: schema: %w", err)
	}
	return append(out, '\n'), nil
}
