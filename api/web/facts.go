package web

import (
	"maps"
	"slices"
	"strconv"

	"almanac/api/look"
	"almanac/text/webaddress"
)

// Fact is a field of a record's data as people read it.
type Fact struct {
	Name   string
	Value  string   // if it is one value
	Link   string   // where the value leads
	Values []string // if it is a list of values
	Rows   []Facts  // if it is a list of objects
	Fields Facts    // if it is an object
}

// Facts are fields in the order of their names.
type Facts []Fact

// untold are fields of data that a page shows elsewhere or that say nothing to
// people.
var untold = []string{
	"number", "format", "text_layer", "cues", "thumbnail", "image", "message_id", "sender", "slug", "raw_status", "stub",
	"has_transcript", "patterns", "header", "votes", "abstained", "participants", "steps",
}

// factsOf writes the data of a record as facts.
func factsOf(data any) Facts {
	object, _ := data.(map[string]any)
	var out Facts
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if slices.Contains(untold, name) {
			continue
		}
		f := Fact{Name: wordsOf(name)}
		switch v := object[name].(type) {
		case map[string]any:
			f.Fields = factsOf(v)
		case []any:
			for _, e := range v {
				if m, ok := e.(map[string]any); ok {
					f.Rows = append(f.Rows, factsOf(m))
				} else if s := valueOf(e); s != "" {
					f.Values = append(f.Values, s)
				}
			}
		default:
			f.Value = valueOf(v)
		}
		if webaddress.Check(f.Value) == nil {
			f.Link = f.Value
		}
		if f.Value != "" || len(f.Values) > 0 || len(f.Rows) > 0 || len(f.Fields) > 0 {
			out = append(out, f)
		}
	}
	return out
}

// factSize is the maximum of a fact, in characters.
const factSize = 600

// valueOf writes a JSON value; "" for one that says nothing.
func valueOf(v any) string {
	switch v := v.(type) {
	case string:
		return short(factSize, v)
	case bool:
		if v {
			return "yes"
		}
	case float64:
		if v != 0 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return ""
}

// named are the names of fields that people write in another way.
var named = map[string]string{
	"url": "Address", "tvl": "Value locked", "apy": "Yield a year", "pdf": "PDF", "id": "Id", "evm_example": "EVM example",
	"full_name": "Name",
}

func wordsOf(name string) string {
	if n, ok := named[name]; ok {
		return n
	}
	return look.Words(name)
}
