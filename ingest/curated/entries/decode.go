package entries

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/catalog/network"
)

// field is a struct field that entries may have.
type field struct {
	name     string
	index    int
	required bool
	rule     rule
}

// rule restricts the values of a text field.
type rule struct {
	enum   []string
	format string
}

// Enumerated is a text type with a list of values, for lists too long for a tag.
type Enumerated interface{ Values() []string }

// fields lists the fields of a struct.
func fields(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		entry := field{name: name, index: i, rule: rule{format: f.Tag.Get("format")}}
		entry.required = f.Type.Kind() != reflect.Slice && !strings.Contains(options, "omitempty")
		if name == "url" {
			entry.rule.format = "url"
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			entry.rule.enum = strings.Split(enum, "|")
		} else if e, ok := reflect.Zero(f.Type).Interface().(Enumerated); ok {
			entry.rule.enum = e.Values()
		}
		list = append(list, entry)
	}
	return list
}

func names(list []field) []string {
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = f.name
	}
	return out
}

// decoder fills values and collects problems.
type decoder struct {
	cells    bool // scalars come from a table: the field determines their type
	problems []Problem
}

// maxProblems is how many problems of an entry are named.
const maxProblems = 20

func (d *decoder) report(n *yaml.Node, path, format string, args ...any) {
	switch {
	case len(d.problems) == maxProblems:
		d.problems = append(d.problems, Problem{n.Line, "there are further problems"})
		return
	case len(d.problems) > maxProblems:
		return
	}
	message := fmt.Sprintf(format, args...)
	if path != "" {
		message = path + ": " + message
	}
	d.problems = append(d.problems, Problem{n.Line, message})
}

// value reads a node into a value. Aliases are rejected: a few lines of them can
// expand to gigabytes.
func (d *decoder) value(n *yaml.Node, v reflect.Value, r rule, path string) {
	switch {
	case n.Kind == yaml.AliasNode:
		d.report(n, path, "aliases (*%s) are not supported; write the value out", n.Value)
		fill(v)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), r, path)
	case v.Kind() == reflect.Struct:
		d.structure(n, v, path)
	case v.Kind() == reflect.Slice:
		d.slice(n, v, r, path)
	case n.Kind != yaml.ScalarNode:
		d.report(n, path, "want one value, not a list or fields")
	case !d.cells && n.ShortTag() == "!!null":
		d.report(n, path, "has no value; leave it out if there is none")
	default:
		d.scalar(n, v, r, path)
	}
}

// fill sets absent lists to empty ones.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	case reflect.Struct:
		for _, f := range fields(v.Type()) {
			fill(v.Field(f.index))
		}
	}
}

func (d *decoder) structure(n *yaml.Node, v reflect.Value, path string) {
	fill(v)
	if n.Kind != yaml.MappingNode {
		d.report(n, path, "want fields with values")
		return
	}
	known := fields(v.Type())
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, at := n.Content[i], slices.IndexFunc(known, func(f field) bool { return f.name == n.Content[i].Value })
		switch {
		case key.Kind != yaml.ScalarNode || at < 0:
			d.report(key, path, "%s", unknown("field", key.Value, names(known)))
		case seen[key.Value]:
			d.report(key, join(path, key.Value), "is a duplicate")
		default:
			seen[key.Value] = true
			d.value(n.Content[i+1], v.Field(known[at].index), known[at].rule, join(path, key.Value))
		}
	}
	for _, f := range known {
		if f.required && !seen[f.name] {
			d.report(n, path, "has no %s", f.name)
		}
	}
}

func unknown(what, word string, known []string) string {
	if near := network.Nearest(word, known); near != "" {
		return fmt.Sprintf("unknown %s %q; did you mean %q?", what, word, near)
	}
	return fmt.Sprintf("unknown %s %q; known are %s", what, word, strings.Join(known, ", "))
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (d *decoder) slice(n *yaml.Node, v reflect.Value, r rule, path string) {
	fill(v)
	if n.Kind != yaml.SequenceNode {
		d.report(n, path, "want a list")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.value(item, v.Index(i), r, path+"["+strconv.Itoa(i+1)+"]")
	}
}

func (d *decoder) scalar(n *yaml.Node, v reflect.Value, r rule, path string) {
	switch v.Kind() {
	case reflect.String:
		d.text(n, v, r, path)
	case reflect.Int:
		i, err := strconv.Atoi(n.Value)
		if err != nil || !d.cells && n.ShortTag() != "!!int" {
			d.report(n, path, "%q is not a whole number", n.Value)
			return
		}
		v.SetInt(int64(i))
	case reflect.Bool:
		word := strings.ToLower(n.Value)
		if word != "true" && word != "false" && !(d.cells && (word == "yes" || word == "no")) ||
			!d.cells && n.ShortTag() != "!!bool" {
			d.report(n, path, "%q is neither true nor false", n.Value)
			return
		}
		v.SetBool(word == "true" || word == "yes")
	default:
		panic("entries: no field may be a " + v.Type().String())
	}
}

// text reads a string. It rejects unquoted numbers and booleans: other readers
// would take 2.10 for 2.1.
func (d *decoder) text(n *yaml.Node, v reflect.Value, r rule, path string) {
	if tag := n.ShortTag(); !d.cells && tag != "!!str" && tag != "!!timestamp" {
		d.report(n, path, "%s is not text; write it in quotes", n.Value)
		return
	}
	text := strings.TrimSpace(n.Value)
	v.SetString(text)
	switch {
	case text == "":
		d.report(n, path, "is empty; leave it out if there is none")
	case r.enum != nil:
		i := slices.IndexFunc(r.enum, func(e string) bool { return strings.EqualFold(e, text) })
		if i < 0 {
			d.report(n, path, "%s", unknown("value", text, r.enum))
			return
		}
		v.SetString(r.enum[i])
	case r.format != "":
		if f := formats[r.format]; !f.ok(text) {
			d.report(n, path, "%q is not a %s", text, f.want)
		}
	}
}

const (
	slugPattern       = `^[a-z0-9]+(?:[._-][a-z0-9]+)*$`
	repositoryPattern = `^[A-Za-z0-9][\w-]*/[\w.-]+$`
)

var (
	slugShape       = regexp.MustCompile(slugPattern)
	repositoryShape = regexp.MustCompile(repositoryPattern)
)

// formats are the formats of text fields.
var formats = map[string]struct {
	want    string
	pattern string // in a schema
	schema  string // format in a schema
	ok      func(string) bool
}{
	"slug":       {"slug: want lower-case letters, digits and hyphens", slugPattern, "", slugShape.MatchString},
	"repository": {"repository: want owner/name", repositoryPattern, "", repositoryShape.MatchString},
	"url":        {"web address: want one that begins with https://", `^https?://`, "uri", isAddress},
	"date":       {"date: want one such as 2031-06-17", `^\d{4}-\d{2}-\d{2}$`, "date", isDate},
}

func isAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}
