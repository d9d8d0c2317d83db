package markdown

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// MaxFront is the maximum size of front matter in bytes. YAML takes some hundred
// times its size.
const MaxFront = 64 << 10

// Front is the front matter of a page: what it says of itself above its text.
type Front struct {
	Block  string // without its marks
	Closed bool   // false: no mark ends it, only the first line that is not "key: value"
	toml   bool
}

// CutFront splits the front matter off a text: YAML between lines of ---, which
// ... may close, or TOML between lines of +++. Empty lines may be above it. A
// block that holds what no front matter does, code or a heading, is a part of the
// text between two rules. A block larger than MaxFront is not cut off either, but
// returned.
func CutFront(text string) (f Front, body string, ok bool) {
	rest := strings.TrimLeft(text, "\n \t")
	mark, rest, _ := strings.Cut(rest, "\n")
	mark = strings.TrimRight(mark, " \t")
	f.toml = mark == "+++"
	if mark != "---" && !f.toml {
		return Front{}, text, false
	}
	keys, only := 0, true // the end of the first lines that are keys, and whether there are no others yet
	for at := 0; at < len(rest); {
		line, _, _ := strings.Cut(rest[at:], "\n")
		next := min(at+len(line)+1, len(rest))
		switch t := strings.TrimRight(line, " \t"); {
		case t == mark, t == "..." && !f.toml:
			if first, _, _ := strings.Cut(strings.TrimSpace(rest[:at]), "\n"); first != "" && first[0] != '#' &&
				!strings.ContainsAny(first, ":=[") {
				return Front{}, text, false // a text between rules
			}
			if f.Block = rest[:at]; at > MaxFront {
				return f, text, false
			}
			f.Closed = true
			return f, rest[next:], true
		case strings.HasPrefix(line, "# ") && !f.toml && !remarks(rest[next:]), line != "" && strings.IndexByte("`~", line[0]) >= 0:
			at = len(rest) // the text has begun
			continue
		}
		key, _, keyed := strings.Cut(line, ":")
		only = only && next <= MaxFront && keyed && key != "" && !strings.ContainsAny(key, " \t#")
		if only {
			keys = next
		}
		at = next
	}
	if f.toml || keys == 0 {
		return Front{}, text, false
	}
	f.Block = rest[:keys]
	return f, rest[keys:], true
}

// remarks reports whether a line of "# " above is a remark in YAML and not a
// heading: what follows it goes on.
func remarks(below string) bool {
	line, _, _ := strings.Cut(below, "\n")
	key, _, keyed := strings.Cut(line, ":")
	return strings.HasPrefix(line, "#") || keyed && key != "" && !strings.Contains(strings.TrimSpace(key), " ")
}

// Values are the values of the front matter by their keys.
func (f Front) Values() (values map[string]any, err error) {
	if f.toml {
		err = toml.Unmarshal([]byte(f.Block), &values)
	} else {
		err = yaml.Unmarshal([]byte(f.Block), &values)
	}
	if err != nil {
		return nil, fmt.Errorf("front matter: %w", err)
	}
	return values, nil
}

// Field is a value of front matter that is a scalar or a list of them.
type Field struct {
	Key   string
	Lines []string // the items of a list, or the lines of a text
}

// Fields are the fields of the front matter: of YAML in their order, of TOML by
// their keys.
func (f Front) Fields() (fields []Field, err error) {
	if f.toml {
		values, err := f.Values()
		for _, key := range slices.Sorted(maps.Keys(values)) {
			switch value := values[key].(type) {
			case map[string]any:
			case []any:
				fields = append(fields, Field{Key: key})
				for _, item := range value {
					line := fmt.Sprint(item)
					if of, ok := item.(map[string]any); ok {
						line = person(of)
					}
					fields[len(fields)-1].Lines = append(fields[len(fields)-1].Lines, line)
				}
			default:
				fields = append(fields, Field{key, strings.Split(fmt.Sprint(value), "\n")})
			}
		}
		return fields, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(f.Block), &doc); err != nil {
		return nil, fmt.Errorf("front matter: %w", err)
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, nil
	}
	pairs := doc.Content[0].Content
	for i := 0; i+1 < len(pairs); i += 2 {
		field, value := Field{Key: pairs[i].Value}, pairs[i+1]
		switch {
		case value.Kind == yaml.ScalarNode && value.Tag != "!!null":
			field.Lines = strings.Split(value.Value, "\n")
		case value.Kind == yaml.SequenceNode:
			for _, item := range value.Content {
				line := item.Value
				if of := map[string]any{}; item.Kind == yaml.MappingNode && item.Decode(&of) == nil {
					line = person(of)
				}
				if line != "" || item.Kind == yaml.ScalarNode {
					field.Lines = append(field.Lines, line)
				}
			}
		case value.Kind != yaml.ScalarNode:
			continue
		}
		fields = append(fields, field)
	}
	return fields, nil
}

// person is the name of somebody who is described by fields, or the handle.
func person(fields map[string]any) string {
	for _, key := range []string{"name", "github", "handle"} {
		if text, ok := fields[key].(string); ok && key == "name" {
			return text
		} else if ok {
			return "@" + strings.TrimPrefix(text, "@")
		}
	}
	return ""
}

// Text returns a value of the front matter as text, "" for none: as it is
// written, if it is a number or the block as a whole cannot be read.
func (f Front) Text(key string) string {
	values, err := f.Values()
	value, has := values[key]
	if text, ok := value.(string); ok || err == nil && !has {
		return text
	}
	sep := ":"
	if f.toml {
		sep = "="
	}
	for line := range strings.Lines(f.Block) {
		if name, value, ok := strings.Cut(line, sep); ok && strings.TrimRight(name, " ") == key {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}
