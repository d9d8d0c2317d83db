// Package options reads what people write by hand in YAML: strictly, and every
// problem has its file, its line and the nearest known name. Network files, the
// options of sources in them and curated files are read by the one Decoder, and the
// JSON Schema comes from the same struct tags. The tags of a field:
//
//	yaml      its name; a struct may be inline
//	required  true: it must be given, and not be empty
//	enum      its values, as a|b|c; case is ignored
//	format    of a text: address, base, date, env, file, glob, path, repository, slug
//	min       the least number or time
//	unique    of a list of structs: the text that each has for itself; of texts: true
//
// A struct says what its tags cannot in a method Check() error, which may also
// complete it. The package imports only leaves.
package options

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"almanac/text/dates"
	"almanac/text/glob"
	"almanac/text/webaddress"
)

// Node is a mapping of a YAML file that is decoded by whoever knows its type, with
// its place in the file. The zero Node is an empty one.
type Node struct {
	file string
	line int
	root *yaml.Node // a mapping; nil: empty
}

// Of returns a mapping of plain data.
func Of(values map[string]any) Node {
	if values == nil {
		return Node{}
	}
	root := new(yaml.Node)
	if err := root.Encode(values); err != nil {
		panic("options: want plain data: " + err.Error())
	}
	return Node{root: root}
}

// At returns the node with its place: the file, and the line of an empty one.
func (n Node) At(file string, line int) Node {
	n.file, n.line = file, line
	return n
}

// MarshalYAML implements yaml.Marshaler: without comments, which are for who edits
// the file.
func (n Node) MarshalYAML() (any, error) { return n.clone().root, nil }

// IsZero reports whether the node has no values, so that it is left out of a file.
func (n Node) IsZero() bool { return n.root == nil || len(n.root.Content) == 0 }

// Equal reports whether two nodes say the same, wherever they are.
func (n Node) Equal(other Node) bool { return reflect.DeepEqual(n.Values(), other.Values()) }

// Values returns the values as plain data; nil if there are none.
func (n Node) Values() (values map[string]any) {
	if !n.IsZero() {
		_ = n.root.Decode(&values) // it was decoded, or encoded, before
	}
	return values
}

// String implements fmt.Stringer.
func (n Node) String() string { return fmt.Sprint(n.Values()) }

// Text returns the text that a key of the mapping has; "" if it has none.
func (n Node) Text(key string) string {
	if at := child(n.root, key); at != nil && at.Kind == yaml.ScalarNode {
		return at.Value
	}
	return ""
}

// With returns a copy in which a key has a text.
func (n Node) With(key, text string) Node {
	n = n.Without(key)
	if n.root == nil {
		n.root = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.line}
	}
	n.root.Content = append(n.root.Content, scalar(key), scalar(text))
	return n
}

// Without returns a copy that does not have a key.
func (n Node) Without(key string) Node {
	n = n.clone()
	if n.root == nil {
		return n
	}
	var kept []*yaml.Node
	for i := 0; i+1 < len(n.root.Content); i += 2 {
		if n.root.Content[i].Value != key {
			kept = append(kept, n.root.Content[i:i+2]...)
		}
	}
	n.root.Content = kept
	return n
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

// Map returns a copy in which every text is what f makes of it. t is the type that
// the node is decoded into: f is told the text's field of it, a zero Field if it
// has none. A list or mapping of texts is of the field that has it.
func (n Node) Map(t reflect.Type, f func(at Field, text string) (string, error)) (Node, error) {
	n = n.clone()
	if n.root == nil {
		return n, nil
	}
	return n, mapTexts(n.root, t, Field{}, f)
}

func mapTexts(n *yaml.Node, t reflect.Type, at Field, f func(Field, string) (string, error)) (err error) {
	t = each(t)
	switch n.Kind {
	case yaml.ScalarNode:
		if n.ShortTag() == "!!str" {
			n.Value, err = f(at, n.Value)
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			err = errors.Join(err, mapTexts(item, t, at, f))
		}
	case yaml.MappingNode:
		var fields []Field
		if t != nil && t.Kind() == reflect.Struct {
			fields, at = Fields(t), Field{}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			within, inside := at, t
			if fields != nil {
				within, _ = find(fields, n.Content[i].Value)
				inside = within.Type
			}
			if failed := mapTexts(n.Content[i+1], inside, within, f); failed != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", n.Content[i].Value, failed))
			}
		}
	}
	return err
}

// Walk calls visit with every text and its field; see Map.
func (n Node) Walk(t reflect.Type, visit func(at Field, text string)) {
	if n.root == nil {
		return
	}
	_ = mapTexts(n.root, t, Field{}, func(at Field, text string) (string, error) {
		visit(at, text)
		return text, nil
	})
}

// clone copies the node without its comments. An alias stays one: the Decoder
// rejects it.
func (n Node) clone() Node {
	var copied func(*yaml.Node) *yaml.Node
	copied = func(from *yaml.Node) *yaml.Node {
		if from == nil {
			return nil
		}
		to := *from
		to.HeadComment, to.LineComment, to.FootComment = "", "", ""
		if to.Kind == yaml.ScalarNode && to.Value == "" && to.ShortTag() == "!!null" {
			to.Value = "null" // or it is written as an empty text
		}
		to.Content = nil
		for _, c := range from.Content {
			to.Content = append(to.Content, copied(c))
		}
		return &to
	}
	n.root = copied(n.root)
	return n
}

// child returns the value of a key of a mapping; nil if there is none.
func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// Errorf returns an error about the node as a whole, with its place.
func (n Node) Errorf(format string, args ...any) error {
	return n.located(n.line, fmt.Errorf(format, args...))
}

// located names the place of an error: file:line: message.
func (n Node) located(line int, err error) error {
	if n.file == "" || line == 0 {
		return err
	}
	return fmt.Errorf("%s:%d: %w", n.file, line, err)
}

// Fingerprint returns what determines how a source is read as one text: all values
// but the names of environment variables.
func Fingerprint(v any) string {
	raw, err := json.Marshal(plain(reflect.ValueOf(v)))
	if err != nil {
		panic("options: want plain data: " + err.Error())
	}
	return string(raw)
}

func plain(v reflect.Value) any {
	switch t := v.Type(); {
	case t.Kind() == reflect.Pointer && v.IsNil():
		return nil
	case t.Kind() == reflect.Pointer:
		return plain(v.Elem())
	case t.Kind() == reflect.Struct:
		out := map[string]any{}
		for _, f := range Fields(t) {
			if f.Format != "env" {
				out[f.Name] = plain(f.In(v))
			}
		}
		return out
	case t.Kind() == reflect.Slice:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = plain(v.Index(i))
		}
		return out
	case t.Kind() == reflect.Map:
		out := map[string]any{}
		for key, value := range v.Seq2() {
			out[key.String()] = plain(value)
		}
		return out
	}
	return v.Interface()
}

// Describe gives a schema of options the descriptions that an example has: an entry
// of a network file with a comment on each option.
func Describe(s *jsonschema.Schema, example string) error {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(example), &doc); err != nil {
		return fmt.Errorf("example: %w", err)
	}
	if len(doc.Content) == 1 {
		root := doc.Content[0]
		if sources := child(root, "sources"); sources != nil && len(sources.Content) == 1 {
			root = sources.Content[0]
		}
		describe(s, child(root, "options"))
	}
	return nil
}

func describe(s *jsonschema.Schema, n *yaml.Node) {
	if s == nil || n == nil {
		return
	}
	if n.Kind == yaml.SequenceNode {
		for _, item := range n.Content {
			describe(s.Items, item)
		}
		return
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		p, ok := s.Properties[key.Value]
		if !ok { // a name of the operator's choice
			describe(s.AdditionalProperties, value)
			continue
		}
		comment := cmp.Or(value.LineComment, key.LineComment)
		p.Description = cmp.Or(p.Description, strings.TrimPrefix(comment, "# "))
		describe(p, value)
	}
}

// format is the form of a text.
type format struct {
	want    string // what a problem asks for
	pattern string // in a schema
	schema  string // format in a schema
	ok      func(string) bool
	hidden  bool // a problem does not repeat the text, which may hold a secret
	bare    bool // the text loses the slashes at its end
}

var slugForm, repositoryForm = regexp.MustCompile(slugPattern), regexp.MustCompile(repositoryPattern)

const (
	wantAddress       = "web address: want one that begins with https:// and has no user"
	addressPattern    = `^https?://`
	slugPattern       = `^[a-z0-9]+(?:[._-][a-z0-9]+)*$`
	repositoryPattern = `^[A-Za-z0-9][\w-]*/\.*[\w-][\w.-]*$`
)

// formats are the values of the tag format. A file is one, or a directory, in the
// network's folder or at an absolute path; a path is that of anything else, such as
// a repository. A base is an address before the paths of an API; an env is the name
// of an environment variable, whose value is no part of what determines how a source
// is read.
var formats = map[string]format{
	"address": {want: wantAddress, pattern: addressPattern, schema: "uri", ok: isAddress, hidden: true},
	"base":    {want: wantAddress, pattern: addressPattern, schema: "uri", ok: isAddress, hidden: true, bare: true},
	"date":    {want: "date: want one such as 2031-06-17", pattern: `^\d{4}-\d{2}-\d{2}$`, schema: "date", ok: isDate},
	"slug": {want: "slug: want lower-case letters, digits and hyphens", pattern: slugPattern,
		ok: slugForm.MatchString},
	"repository": {want: "repository: want owner/name", pattern: repositoryPattern, ok: repositoryForm.MatchString},
	"glob": {want: "pattern of paths such as docs/**", ok: func(s string) bool {
		_, err := glob.Exact([]string{s})
		return err == nil
	}},
	"file": {want: "path in the network's folder: want a relative one that stays inside, or an absolute one",
		ok: func(s string) bool { return fs.ValidPath(s) || filepath.IsAbs(s) }},
	"path": {ok: func(string) bool { return true }},
	"env":  {ok: func(string) bool { return true }},
}

func isAddress(s string) bool { return webaddress.Check(s) == nil }

func isDate(s string) bool { return !dates.At(s, dates.Day).IsZero() }
