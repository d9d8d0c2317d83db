package ingest_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"almanac/catalog/network"
	"almanac/ingest"
)

// either is a string or a list in YAML.
type either []string

func (e *either) UnmarshalYAML(n *yaml.Node) error { return n.Decode((*[]string)(e)) }

func TestSchemasMatchTheDecodedOptions(t *testing.T) {
	type part struct {
		Name string `yaml:"name"`
		Size *int   `yaml:"size,omitempty"`
	}
	r := ingest.Registry{
		"harbour": func(src network.Source, _ ingest.Environment) (ingest.Connector, error) {
			var o struct {
				Every  time.Duration      `yaml:"every"`
				Parts  []part             `yaml:"parts"`
				Rates  map[string]float64 `yaml:"rates"`
				Open   bool               `yaml:"open"`
				Paths  either             `yaml:"paths"`
				part   `yaml:",inline"`
				hidden string
			}
			return nil, ingest.DecodeOptions(src, &o)
		},
		"plain": func(network.Source, ingest.Environment) (ingest.Connector, error) { return nil, nil },
	}
	schemas := r.Schemas()
	if len(schemas) != 1 {
		t.Errorf("%d schemas; a connector without options must not have one", len(schemas))
	}
	raw, err := json.Marshal(schemas["harbour"])
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	text := []any{"string", "number", "boolean"}
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	}
	want := object(map[string]any{
		"every": map[string]any{"type": "string", "pattern": network.DurationPattern},
		"parts": map[string]any{"type": "array", "items": object(map[string]any{
			"name": map[string]any{"type": text}, "size": map[string]any{"type": "integer"}})},
		"rates": map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "number"}},
		"open":  map[string]any{"type": "boolean"},
		"paths": true,
		"name":  map[string]any{"type": text}, "size": map[string]any{"type": "integer"},
	})
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
