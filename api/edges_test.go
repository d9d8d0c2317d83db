package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/api/op"
)

// TestEdges takes the constraints of every argument from the published schemas
// and asks both interfaces at each edge, which is accepted, and just beyond it,
// which is an error that names the argument.
func TestEdges(t *testing.T) {
	t.Run("tidewater", func(t *testing.T) { askEdges(t, open(t).ready(t)) })
	t.Run("lagoon", func(t *testing.T) { askEdges(t, openAs(t, lagoon, inLagoon).ready(t)) })
}

// given is a value of an argument.
type given struct {
	what  string
	value any // of JSON; missing: the argument is left out
	valid bool
}

var missing = struct{}{}

func askEdges(t *testing.T, l *library) {
	calls := 0
	for _, o := range l.ops {
		for name, s := range o.In.Properties {
			if o.Path == "" {
				break
			}
			for _, e := range edges(s, slices.Contains(o.In.Required, name), pathParam(o, name)) {
				args := usual(o.In)
				args[name] = e.value
				for _, post := range methods(o) {
					if post && pathParam(o, name) || !post && jsonOnly(e.value) {
						continue
					}
					calls++
					l.askEdgeREST(t, o, post, name, args, e)
				}
			}
		}
		for name, s := range o.ToolIn.Properties {
			if name == "fields" { // its values are names of fields
				continue
			}
			if o.Tool == "" {
				break
			}
			for _, e := range edges(s, slices.Contains(o.ToolIn.Required, name), false) {
				if e.valid && o.Effects.OpenWorld { // it would call a server
					continue
				}
				if word, ok := e.value.(string); ok && !utf8.ValidString(word) {
					continue // JSON has no other text
				}
				if list, ok := e.value.([]any); ok && len(list) == 1 && strings.TrimSpace(written(list[0])) == "" {
					e.valid = !slices.Contains(o.ToolIn.Required, name) // nothing in a list is left out
				}
				args := usual(o.ToolIn)
				args[name] = e.value
				calls++
				l.askEdgeTool(t, o, name, args, e)
			}
		}
	}
	t.Logf("%d calls", calls)
}

func methods(o op.Operation) (post []bool) {
	if o.Post {
		return []bool{false, true}
	}
	return []bool{o.Method == http.MethodPost}
}

func pathParam(o op.Operation, name string) bool {
	return slices.ContainsFunc(o.Params, func(p op.Param) bool { return p.Name == name && p.Path })
}

// jsonOnly reports whether a value cannot be written in an address: there are
// no types, and an empty list is an empty item.
func jsonOnly(v any) bool {
	list, isList := v.([]any)
	_, isMap := v.(map[string]any)
	return isMap || v == nil || isList && len(list) == 0
}

// refusedByMeaning are errors about a value that its schema allows: a cursor is
// one of an earlier answer, a version has numbers.
func refusedByMeaning(name, message string) bool {
	return name == "cursor" && strings.Contains(message, "next_cursor of an earlier answer") ||
		name == "version" && strings.Contains(message, "must be a version")
}

func (l *library) askEdgeREST(t *testing.T, o op.Operation, post bool, name string, args map[string]any, e given) {
	t.Helper()
	target, method, body := o.Path, http.MethodGet, ""
	query, members := url.Values{}, map[string]any{}
	for arg, v := range args {
		switch {
		case v == missing:
		case pathParam(o, arg):
			for _, in := range []string{"{" + arg + "}", "{" + arg + "...}"} {
				target = strings.Replace(target, in, url.PathEscape(written(v)), 1)
			}
		case post:
			members[arg] = v
		default:
			query.Set(arg, written(v))
		}
	}
	if post {
		raw, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		method, body = http.MethodPost, string(raw)
	} else if len(query) > 0 {
		target += "?" + query.Encode()
	}
	w := do(l.public, method, target, body)
	switch {
	case e.valid && w.Code != 200 && w.Code != 404 && !refusedByMeaning(name, w.Body.String()),
		!e.valid && (w.Code != 400 || !strings.Contains(w.Body.String(), name)):
		t.Errorf("REST %s, %s: %s (%s %.80s %.80s): %d %.200s", o.ID, name, e.what, method, target, body, w.Code,
			w.Body)
	}
}

func (l *library) askEdgeTool(t *testing.T, o op.Operation, name string, args map[string]any, e given) {
	t.Helper()
	maps.DeleteFunc(args, func(_ string, v any) bool { return v == missing })
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	answer, isError := call(t, l.public, o.Tool, string(raw))
	refused := isError && !strings.Contains(answer, "found nothing") && !refusedByMeaning(name, answer)
	named := strings.Contains(answer, "Invalid arguments") && strings.Contains(answer, name)
	if e.valid && refused || !e.valid && (!isError || !named) {
		t.Errorf("tool %s, %s: %s (%.80s): error %v %.200s", o.Tool, name, e.what, raw, isError, answer)
	}
}

// written writes a value in an address.
func written(v any) string {
	if list, ok := v.([]any); ok {
		words := make([]string, len(list))
		for i, e := range list {
			words[i] = written(e)
		}
		return strings.Join(words, ",")
	}
	if n, ok := v.(float64); ok {
		return fmt.Sprintf("%v", json.Number(fmt.Sprintf("%.15g", n)))
	}
	return fmt.Sprint(v)
}

// usual are the required arguments of a schema with values it allows.
func usual(s *jsonschema.Schema) map[string]any {
	args := map[string]any{}
	for _, name := range s.Required {
		args[name] = usualValue(s.Properties[name])
	}
	return args
}

func usualValue(s *jsonschema.Schema) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == "array":
		return []any{usualValue(s.Items)}
	case s.Type == "integer", s.Type == "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 7.0
	case s.Type == "boolean":
		return true
	case s.Type == "object":
		return map[string]any{}
	case s.Pattern == datePattern:
		return "2030-05-01"
	}
	return "56" // an id of a proposal and a word
}

// datePattern is published for days and times.
const datePattern = `^\d{4}-\d{2}-\d{2}`

// edges are the values at and beyond the constraints of a schema.
func edges(s *jsonschema.Schema, required, inPath bool) []given {
	all := []given{{"a usual value", usualValue(s), true}}
	if !inPath {
		all = append(all, given{"left out", missing, !required})
	}
	switch s.Type {
	case "array":
		all = append(all, arrayEdges(s)...)
	case "integer", "number":
		all = append(all, numberEdges(s)...)
	case "boolean":
		all = append(all, given{"false", false, true}, given{"a word", "maybe", false}, given{"a number", 7.0, false})
	case "object":
		all = append(all, given{"members", map[string]any{"a": 1.0}, true})
	case "string":
		all = append(all, stringEdges(s, required, inPath)...)
	}
	return all
}

func arrayEdges(s *jsonschema.Schema) (all []given) {
	of := func(n int) []any { return slices.Repeat([]any{usualValue(s.Items)}, n) }
	if s.MaxItems != nil {
		all = append(all, given{"most items", of(*s.MaxItems), true}, given{"one item more", of(*s.MaxItems + 1), false})
	}
	if s.MinItems != nil {
		all = append(all, given{"least items", of(*s.MinItems), true}, given{"one item less", of(*s.MinItems - 1), false})
	}
	for _, e := range edges(s.Items, true, false) {
		if e.value != missing {
			all = append(all, given{"an item: " + e.what, []any{e.value}, e.valid})
		}
	}
	return all
}

func numberEdges(s *jsonschema.Schema) (all []given) {
	if s.Minimum != nil {
		all = append(all, given{"the minimum", *s.Minimum, true}, given{"one less", *s.Minimum - 1, false})
	}
	if s.Maximum != nil {
		all = append(all, given{"the maximum", *s.Maximum, true}, given{"one more", *s.Maximum + 1, false})
	}
	if s.Type == "integer" {
		all = append(all, given{"a fraction", 7.5, false})
	}
	return append(all, given{"a word", "many", false},
		given{"beyond all integers", math.MaxUint64 * 1e3, s.Type == "number" && s.Maximum == nil})
}

func stringEdges(s *jsonschema.Schema, required, inPath bool) (all []given) {
	for _, v := range s.Enum {
		all = append(all, given{"a value", v, true}, given{"in other case", strings.ToUpper(v.(string)), true})
	}
	if len(s.Enum) > 0 {
		all = append(all, given{"no value", "no-such-value", false})
	}
	if s.MaxLength != nil {
		all = append(all, given{"the most characters", strings.Repeat("x", *s.MaxLength), s.Pattern == ""},
			given{"one more", strings.Repeat("x", *s.MaxLength+1), false})
	}
	if s.Pattern != "" {
		all = append(all, given{"another form", "~", false})
	}
	if required && !inPath {
		all = append(all, given{"empty", "", false}, given{"blank", " \t", false})
	}
	return append(all, given{"no text", "\xc3\x28", false}, given{"NUL", "5\x006", false})
}

// TestTheHintNamesTheFilterThatFindsNothing holds that a filter with several
// values is not blamed for one of them.
func TestTheHintNamesTheFilterThatFindsNothing(t *testing.T) {
	l := open(t).ready(t)
	l.ask(t, question{tool: "get_upcoming_deadlines", args: `{"environment":"attic"}`, want: fields{
		"total": 0, "hint": `no record has the environment "attic": there are mainnet`}}, coverage{})
}
