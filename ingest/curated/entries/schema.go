package entries

import (
	"encoding/json"
	"fmt"
	"reflect"

	"almanac/text/options"
)

// Schema returns the JSON Schema of a YAML file of such entries, for editors.
func Schema[T any](title string) ([]byte, error) {
	s := options.Schema(reflect.TypeFor[[]T](), false)
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", title
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("entries: schema: %w", err)
	}
	return append(out, '\n'), nil
}
