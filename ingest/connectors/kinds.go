package connectors

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/catalog/network"
)

// kinds has a file for each kind of source: an example of its entry in a network
// file, with a comment on each option. They are the comments of the connectors'
// packages; a test compares them.
//
//go:embed kinds
var kinds embed.FS

// Kind describes a kind of source.
type Kind struct {
	Name    string
	Summary string // one sentence
	Example string // YAML with comments
}

// Kinds lists all kinds of sources but that of the sample.
func Kinds() []Kind {
	entries, _ := kinds.ReadDir("kinds") // it is embedded
	out := make([]Kind, 0, len(entries))
	for _, e := range entries {
		data, _ := kinds.ReadFile("kinds/" + e.Name())
		summary, example, _ := strings.Cut(string(data), "\n")
		out = append(out, Kind{strings.TrimSuffix(e.Name(), ".yaml"), strings.TrimPrefix(summary, "# "), example})
	}
	return out
}

// KindOf describes one kind. An unknown name is an error that names the nearest.
func KindOf(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	if near := network.Nearest(name, names); near != "" {
		return Kind{}, fmt.Errorf("there is no kind %q; did you mean %q?", name, near)
	}
	return Kind{}, fmt.Errorf("there is no kind %q; there are %s", name, strings.Join(names, ", "))
}

// Schemas returns the JSON Schemas of the options of each kind, with the comments
// of its example as descriptions.
func Schemas() map[string]*jsonschema.Schema {
	schemas := All(time.Time{}).Schemas()
	delete(schemas, Sample) // it has the options of the connector that reads its files
	for _, k := range Kinds() {
		if s := schemas[k.Name]; s != nil {
			s.Description = k.Summary
			describe(s, "", k.comments())
		}
	}
	return schemas
}

// describe sets the descriptions of the properties below a path.
func describe(s *jsonschema.Schema, path string, comments map[string]string) {
	if s == nil {
		return
	}
	for name, p := range s.Properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		if p.Description == "" {
			p.Description = commentOf(comments, at)
		}
		describe(p, at, comments)
	}
	describe(s.Items, path, comments)
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not == nil {
		describe(s.AdditionalProperties, path+".*", comments)
	}
}

// commentOf returns the comment on an option; a * in its path is any name that the
// example uses there.
func commentOf(comments map[string]string, at string) string {
	if !strings.Contains(at, "*") {
		return comments[at]
	}
	pattern := strings.ReplaceAll(at, ".", "/")
	for _, option := range slices.Sorted(maps.Keys(comments)) {
		if ok, _ := path.Match(pattern, strings.ReplaceAll(option, ".", "/")); ok && comments[option] != "" {
			return comments[option]
		}
	}
	return ""
}

var (
	optionLine = regexp.MustCompile(`^( *)(- )?\{?"?([A-Za-z_*][\w*]*)"?: ?(.*)$`)
	comment    = regexp.MustCompile(`(?:^|\s)# (.*)$`)
	inFlow     = regexp.MustCompile(`([{,] *)"?([a-z_][\w]*)"?:`)
)

// comments returns the options in the example with their comments, "" where there
// is none: by path, such as repository.branch.
func (k Kind) comments() map[string]string {
	out := map[string]string{}
	type level struct {
		indent int
		path   string
	}
	var at []level
	base := -1
	for line := range strings.SplitSeq(k.Example, "\n") {
		m := optionLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		indent := len(m[1]) + len(m[2])
		if m[3] == "options" {
			base, at = indent, nil
			continue
		}
		if base < 0 || indent <= base {
			continue
		}
		for len(at) > 0 && at[len(at)-1].indent >= indent {
			at = at[:len(at)-1]
		}
		path := m[3]
		if len(at) > 0 {
			path = at[len(at)-1].path + "." + path
		}
		at = append(at, level{indent, path})
		value, said := m[4], ""
		if c := comment.FindStringSubmatchIndex(value); c != nil {
			value, said = value[:c[0]], value[c[2]:c[3]]
		}
		if out[path] == "" {
			out[path] = said
		}
		within := path
		if strings.HasPrefix(strings.TrimSpace(line), "- {") { // the first member stands in m[3]
			within, _, _ = strings.Cut(path+"\x00", "\x00")
			if i := strings.LastIndex(path, "."); i >= 0 {
				within = path[:i]
			}
			value = "{x: " + value
		}
		for _, member := range inFlow.FindAllStringSubmatch(value, -1) {
			if name := within + "." + member[2]; out[name] == "" {
				out[name] = ""
			}
		}
	}
	return out
}
