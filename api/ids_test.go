package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/api"
	"almanac/api/describe"
	"almanac/api/kb"
	"almanac/ingest/networks"
)

// TestToolsTakeTheReadOfAResult holds that a client that keeps to the schemas
// can pass on what a search result has: its read, a string, and its id, which may
// be a number where the id of the source is one.
func TestToolsTakeTheReadOfAResult(t *testing.T) {
	found := map[string]bool{}
	for _, o := range operations() {
		for _, p := range o.Params {
			if o.Tool == "" || p.ToolName == "" || !strings.Contains(p.Doc, "search result") {
				continue
			}
			found[o.Tool] = true
			for _, id := range []any{"1000054#setup", "1000054", 1000054} {
				args := json.RawMessage(marshal(t, map[string]any{p.ToolName: id}))
				if _, err := o.DecodeTool(args); err != nil {
					t.Errorf("%s %s: %v", o.Tool, args, err)
				}
				_, number := id.(int)
				either := o.Tool == "get_doc" || o.Tool == "get_discussion"
				if err := fits(o.ToolIn, args); err != nil && (!number || either) {
					t.Errorf("the schema of %s refuses %s: %v", o.Tool, args, err)
				}
			}
		}
	}
	for _, tool := range []string{"get_doc", "get_discussion", "get_whitepaper", "get_video", "get_forge_discussion"} {
		if !found[tool] {
			t.Errorf("%s takes no id of a search result", tool)
		}
	}
}

// TestExamplesFitTheirSchemas holds that each example is of the type that is
// published for it: linters and generators compare them.
func TestExamplesFitTheirSchemas(t *testing.T) {
	examples := 0
	for _, name := range networks.Names() {
		n, err := networks.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		ops := api.Operations(kb.Base{Network: n})
		for _, o := range ops {
			if in, ok := o.ExampleInput(); ok && o.Tool != "" {
				examples++
				if err := fits(o.ToolIn, o.Call(in)); err != nil {
					t.Errorf("%s: %s of tool %s: %v", name, o.Call(in), o.Tool, err)
				}
			}
		}
		raw, err := describe.OpenAPI(describe.Service{Title: n.Title, Operations: ops})
		if err != nil {
			t.Fatal(err)
		}
		var document map[string]json.RawMessage
		if err := json.Unmarshal(raw, &document); err != nil {
			t.Fatal(err)
		}
		eachExample(t, document["paths"], name, func(at string, schema *jsonschema.Schema, example json.RawMessage) {
			examples++
			if err := fits(schema, example); err != nil {
				t.Errorf("%s: %s: %v", at, example, err)
			}
		})
	}
	if examples < 50 {
		t.Errorf("only %d examples", examples)
	}
}

// eachExample visits the objects of a JSON text that have an example beside a
// schema.
func eachExample(
	t *testing.T, raw json.RawMessage, at string, visit func(at string, s *jsonschema.Schema, example json.RawMessage),
) {
	t.Helper()
	var members map[string]json.RawMessage
	var items []json.RawMessage
	switch {
	case json.Unmarshal(raw, &members) == nil:
		if members["example"] != nil && members["schema"] != nil {
			var s jsonschema.Schema
			if err := json.Unmarshal(members["schema"], &s); err != nil {
				t.Fatal(err)
			}
			visit(at, &s, members["example"])
		}
		for name, m := range members {
			eachExample(t, m, at+"/"+name, visit)
		}
	case json.Unmarshal(raw, &items) == nil:
		for _, item := range items {
			eachExample(t, item, at, visit)
		}
	}
}

// fits validates a JSON text by a schema.
func fits(s *jsonschema.Schema, raw json.RawMessage) error {
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	return resolved.Validate(v)
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
