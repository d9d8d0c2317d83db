package connectors

import (
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"
)

// TestExamplesAreEntries: the example of a kind is an entry of that kind with a
// title and a schedule, and its options are those that the schema has.
func TestExamplesAreEntries(t *testing.T) {
	schemas, err := Schemas()
	if err != nil {
		t.Fatal(err)
	}
	if len(Kinds()) != len(schemas) {
		t.Errorf("%d kinds, %d schemas", len(Kinds()), len(schemas))
	}
	for _, k := range Kinds() {
		type entry struct {
			Kind    string
			Options any
		}
		var file struct {
			Sources []entry
			entry   `yaml:",inline"`
		}
		if err := yaml.Unmarshal([]byte(k.Example), &file); err != nil {
			t.Fatal(k.Name, err)
		}
		if len(file.Sources) == 1 {
			file.entry = file.Sources[0]
		}
		s, err := schemas[k.Name].Resolve(nil)
		if err == nil {
			err = s.Validate(dated(file.Options))
		}
		sentence := strings.HasPrefix(k.Summary, "Reads ") && strings.HasSuffix(k.Summary, ".")
		if err != nil || file.Kind != k.Name || !sentence {
			t.Errorf("%s: %q, %s: %v", k.Name, k.Summary, file.Kind, err)
		}
	}
}

// dated writes the dates in a value as texts, as Decode reads them.
func dated(value any) any {
	switch v := value.(type) {
	case time.Time:
		return v.Format(time.DateOnly)
	case map[string]any:
		for key := range v {
			v[key] = dated(v[key])
		}
	case []any:
		for i := range v {
			v[i] = dated(v[i])
		}
	}
	return value
}

// TestEveryOptionIsDescribed: the schema of each kind, which is what editors show
// and where checks look, has a description of every option, from the comment in
// the kind's example.
func TestEveryOptionIsDescribed(t *testing.T) {
	schemas, err := Schemas()
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Kinds() {
		var walk func(s *jsonschema.Schema, path string)
		walk = func(s *jsonschema.Schema, path string) {
			if s == nil {
				return
			}
			for name, p := range s.Properties {
				at := strings.TrimPrefix(path+"."+name, ".")
				if p.Description == "" {
					t.Errorf("%s: the option %s has no comment in the example", k.Name, at)
				}
				walk(p, at)
			}
			walk(s.Items, path)
			walk(s.AdditionalProperties, path+".*")
		}
		walk(schemas[k.Name], "")
	}
}
