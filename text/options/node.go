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
	"errors"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"
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
