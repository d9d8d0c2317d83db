package network

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// durationPattern is the form of a duration such as 15m, 24h or 1h30m.
const durationPattern = `^([0-9]+(\.[0-9]+)?(h|m|s|ms|us|µs|ns))+$|^0$`

// Schema returns the JSON Schema of a network file, generated from Network,
// for editors and other tools. It accepts every file that Parse accepts;
// Parse also checks what a schema cannot say (unique names, status targets).
func Schema() ([]byte, error) {
	s, err := jsonschema.For[Network](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		durationType: {Type: "string", Pattern: durationPattern},
	}})
	if err != nil {
		return nil, fmt.Errorf("network: schema: %w", err)
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "almanac network file"
	s.Properties["name"].Pattern = namePattern
	s.Properties["proposals"].Properties["prefix"].Pattern = prefixPattern
	source := s.Properties["sources"].Items
	source.Properties["name"].Pattern = namePattern
	source.Properties["kind"].Pattern = namePattern
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("network: schema: %w", err)
	}
	return append(out, '\n'), nil
}
