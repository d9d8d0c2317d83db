package optest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/api/op"
	"almanac/text/dates"
)

// CheckOutput validates an encoded answer against the operation's schema,
// including the format of times.
func CheckOutput(o op.Operation, answer []byte) error { return check(o, o.Out, answer) }

// CheckToolOutput is CheckOutput for the answer of a tool.
func CheckToolOutput(o op.Operation, answer []byte) error { return check(o, o.ToolOut, answer) }

func check(o op.Operation, schema *jsonschema.Schema, answer []byte) error {
	res, err := schema.Resolve(nil)
	if err != nil {
		return fmt.Errorf("%s: %w", o.ID, err)
	}
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		return fmt.Errorf("%s: %w", o.ID, err)
	}
	if err := res.Validate(v); err != nil {
		return fmt.Errorf("%s: %w", o.ID, err)
	}
	return checkTimes(schema, v, o.ID)
}

// checkTimes checks format, which the validator ignores.
func checkTimes(s *jsonschema.Schema, v any, at string) error {
	switch v := v.(type) {
	case string:
		if s.Format != "date-time" {
			return nil
		}
		if dates.At(v, dates.Instant).IsZero() || !strings.HasSuffix(v, "Z") {
			return fmt.Errorf("%s: %q is not an RFC 3339 time in UTC", at, v)
		}
	case []any:
		for i, e := range v {
			if s.Items == nil {
				return nil
			}
			if err := checkTimes(s.Items, e, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, e := range v {
			p := s.Properties[name]
			if p == nil {
				p = s.AdditionalProperties
			}
			if p == nil {
				continue
			}
			if err := checkTimes(p, e, at+"."+name); err != nil {
				return err
			}
		}
	}
	return nil
}
