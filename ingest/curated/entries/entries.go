// Package entries reads files written by hand: YAML files that are a list of
// entries, and CSV files with one entry per row. It is strict: it reports every
// problem with its line, field and the nearest known word, and skips a bad entry
// without losing the others.
//
// An entry is a Go struct with the tags that package options reads: its json tags
// name the fields, and one without omitempty is required, unless it is a list. The
// jsonschema tag describes the field in Schema.
package entries

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"almanac/text/options"
)

// Entry is one entry of a file.
type Entry[T any] struct {
	Line     int
	Value    T                 // what could be read; its lists are never nil
	Problems []options.Problem // none if the entry is good
}

// Err returns the line of the first problem and one error for all of them; nil
// for a good entry.
func (e Entry[T]) Err() (line int, err error) {
	if len(e.Problems) == 0 {
		return e.Line, nil
	}
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			fmt.Fprintf(&b, "; line %d: ", p.Line)
		}
		b.WriteString(p.String())
	}
	return e.Problems[0].Line, errors.New(b.String())
}

// IsFile reports whether Read can read a file with that name.
func IsFile(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".csv":
		return true
	}
	return false
}

// Read reads a file that the operator wrote, as CSV if its name ends so, otherwise
// as YAML. The error begins with name:line and means that the whole file cannot be
// read.
func Read[T any](name string, data []byte) ([]Entry[T], error) { return ReadWithin[T](name, data, Own) }

// ReadWithin is Read with other limits.
func ReadWithin[T any](name string, data []byte, limits Limits) ([]Entry[T], error) {
	fail := func(line int, format string, args ...any) error {
		return fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(format, args...))
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch {
	case len(data) > limits.Bytes:
		return nil, fail(1, "the file has %d bytes; the limit is %d", len(data), limits.Bytes)
	case !utf8.Valid(data):
		return nil, fail(badLine(data), "this is not UTF-8 text; save the file in that encoding")
	case values(data) > limits.Values:
		return nil, fail(1, "the file has more than %d values; divide it", limits.Values)
	}
	t := reflect.TypeFor[T]()
	cells := strings.EqualFold(path.Ext(name), ".csv")
	var nodes []*yaml.Node
	var line int
	var err error
	if cells {
		nodes, line, err = rows(data, t)
	} else {
		nodes, line, err = list(data)
	}
	if err == nil && len(nodes) > limits.Entries {
		line, err = nodes[limits.Entries].Line, fmt.Errorf("more than %d entries; divide the file", limits.Entries)
	}
	if err != nil {
		return nil, fail(line, "%v", err)
	}
	out := make([]Entry[T], len(nodes))
	for i, n := range nodes {
		d := options.Decoder{Noun: "field", Trim: true, Cells: cells}
		v := reflect.ValueOf(&out[i].Value).Elem()
		d.Value(n, v)
		fill(v)
		out[i].Line, out[i].Problems = n.Line, d.Problems
	}
	return out, nil
}

// fill sets absent lists to empty ones.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}

// badLine is the line of the first byte that is not UTF-8.
func badLine(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[size:]
	}
	return line
}

// list returns the items of the one list that a YAML file must consist of.
func list(data []byte) (items []*yaml.Node, line int, err error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, 1, errors.New("the file is empty; write [] for no entries")
	} else if err != nil {
		return lineOf(err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, second.Line, errors.New("a second document begins; a file is one list of entries")
	} else if !errors.Is(err, io.EOF) {
		return lineOf(err)
	}
	root := doc.Content[0]
	if root.Kind != yaml.SequenceNode {
		return nil, root.Line, errors.New("want a list of entries, each beginning with a hyphen")
	}
	return root.Content, 0, nil
}

func lineOf(err error) ([]*yaml.Node, int, error) {
	line, message := options.Located(err)
	return nil, line, errors.New(message)
}
