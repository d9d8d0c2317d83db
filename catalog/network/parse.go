package network

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// MaxBytes is the maximum size of a network file.
const MaxBytes = 1 << 20

// Parse reads a network file strictly: an unknown key, a second document, a
// duration without a unit or a status outside the enumeration is an error. The
// error lists all problems, one per line, as name:line: problem.
func Parse(name string, data []byte) (Network, error) {
	if len(data) > MaxBytes {
		return Network{}, fmt.Errorf("%s:1: the file has %d bytes; the limit is %d", name, len(data), MaxBytes)
	}
	root, err := document(data)
	if err != nil {
		return Network{}, located(name, err)
	}
	f := &file{name: name, root: root}
	f.shape(root, reflect.TypeFor[Network](), "")
	if f.problems != nil {
		return Network{}, errors.Join(f.problems...)
	}
	var n Network
	if err := root.Decode(&n); err != nil {
		return Network{}, located(name, err)
	}
	f.validate(n)
	if f.problems != nil {
		return Network{}, errors.Join(f.problems...)
	}
	return n, nil
}

// document returns the one mapping that makes up the file.
func document(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty")
	} else if err != nil {
		return nil, err
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		return nil, fmt.Errorf("line %d: a second document; a network is one", second.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: a network file is a mapping of keys to values", root.Line)
	}
	return root, nil
}

var lineNumber = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?line (\d+): `)

// located prefixes errors of the YAML library with file and line.
func located(name string, err error) error {
	messages := []string{err.Error()}
	if t, ok := errors.AsType[*yaml.TypeError](err); ok {
		messages = t.Errors
	}
	errs := make([]error, len(messages))
	for i, m := range messages {
		line := "1"
		if at := lineNumber.FindStringSubmatch(m); at != nil {
			line, m = at[1], m[len(at[0]):]
		}
		errs[i] = fmt.Errorf("%s:%s: %s", name, line, strings.TrimPrefix(m, "yaml: "))
	}
	return errors.Join(errs...)
}

// file collects the problems of one network file.
type file struct {
	name     string
	root     *yaml.Node
	problems []error
}

func (f *file) report(at *yaml.Node, format string, args ...any) {
	f.problems = append(f.problems, fmt.Errorf("%s:%d: %s", f.name, at.Line, fmt.Sprintf(format, args...)))
}

var durationType = reflect.TypeFor[time.Duration]()

// shape compares a node with the Go type it is decoded into: unknown keys, and
// values that YAML would decode into something unintended.
func (f *file) shape(n *yaml.Node, t reflect.Type, path string) {
	if n.Kind == yaml.AliasNode {
		f.report(n, "%s: aliases (*%s) are not supported", path, n.Value)
		return
	}
	switch {
	case t.Kind() == reflect.Interface: // a connector's option
	case n.ShortTag() == "!!null":
		f.report(n, "%s: has no value", path)
	case t == durationType:
		f.duration(n, path)
	case t.Kind() == reflect.String && n.Kind == yaml.ScalarNode && n.ShortTag() != "!!str":
		f.report(n, "%s: %s is not a string; write it in quotes", path, n.Value)
	case t.Kind() == reflect.Int && n.ShortTag() != "!!int":
		f.report(n, "%s: %s is not a whole number", path, n.Value)
	case t.Kind() == reflect.Struct && n.Kind == yaml.MappingNode:
		f.keys(n, t, path)
	case t.Kind() == reflect.Slice && n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			f.shape(item, t.Elem(), path+"["+strconv.Itoa(i)+"]")
		}
	case t.Kind() == reflect.Map && n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			f.shape(n.Content[i+1], t.Elem(), join(path, n.Content[i].Value))
		}
	}
}

// keys reports the keys of a mapping that are not in its struct.
func (f *file) keys(n *yaml.Node, t reflect.Type, path string) {
	fields := map[string]reflect.Type{}
	var known []string
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		fields[key] = t.Field(i).Type
		known = append(known, key)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		field, ok := fields[key.Value]
		if !ok {
			f.report(key, "%s", unknownKey(join(path, key.Value), key.Value, known))
			continue
		}
		f.shape(n.Content[i+1], field, join(path, key.Value))
	}
}

func unknownKey(path, key string, known []string) string {
	if near := Nearest(key, known); near != "" {
		return fmt.Sprintf("unknown key %q; did you mean %q?", path, near)
	}
	return fmt.Sprintf("unknown key %q; known are %s", path, strings.Join(known, ", "))
}

func (f *file) duration(n *yaml.Node, path string) {
	d, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil || n.ShortTag() != "!!str":
		f.report(n, "%s: %q is not a duration; write 15m, 24h or 1h30m", path, n.Value)
	case d < 0:
		f.report(n, "%s: a duration is not negative", path)
	case d > 0 && d < time.Second:
		f.report(n, "%s: %s is shorter than a second", path, d)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
