package api_test

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestNoSchemaIsABoolean reads the components of the description of the API as generators of clients do.
func TestNoSchemaIsABoolean(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	body := do(open(t).public, "GET", "/api/v1/openapi.json", "").Body.Bytes()
	if err := json.Unmarshal(body, &doc); err != nil || len(doc.Components.Schemas) == 0 {
		t.Fatal(err)
	}
	for name, schema := range doc.Components.Schemas {
		if err := noBoolean(schema, name); err != nil {
			t.Error(err)
		}
	}
}

// noBoolean fails on a schema written as true or false where generators of
// clients expect an object.
func noBoolean(raw json.RawMessage, at string) error {
	if s := string(raw); s == "true" || s == "false" {
		return fmt.Errorf("%s is %s", at, s)
	}
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	for name, p := range s.Properties {
		if err := noBoolean(p, at+"."+name); err != nil {
			return err
		}
	}
	if s.Items == nil {
		return nil
	}
	return noBoolean(s.Items, at+"[]")
}
