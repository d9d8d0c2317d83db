// Package entries reads what people write by hand: YAML files that are a list
// of entries, and CSV files of one entry a row. It is strict, says file line,
// field and the nearest known word of everything that is wrong, and leaves out
// a bad entry without losing the others.
//
// An entry is a Go struct. Its json tags name the fields; one without
// omitempty is required, unless it is a list. Further tags say what a text may
// be: enum:"a|b|c" (matched without regard to case, kept in the tag's
// spelling) and format:"slug", "url", "date" or "repository"; a field called url
// needs no tag to be one. The jsonschema tag describes the field in Schema.
package entries

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"reflect"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxBytes is the size of the largest file that is read.
const maxBytes = 8 << 20

// Entry is one entry of a file.
type Entry[T any] struct {
	Line     int
	Value    T         // as far as it could be read; its lists are never nil
	Problems []Problem // none if the entry is good
}

// Problem is what is wrong with an entry.
type Problem struct {
	Line    int
	Message string
}

// Err returns the line of the first problem and one error of all of them; nil
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
		b.WriteString(p.Message)
	}
	return e.Problems[0].Line, errors.New(b.String())
}

// IsFile reports whether a file of that name is one that Read reads.
func IsFile(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".yaml", ".yml", ".csv":
		return true
	}
	return false
}

// Read reads a file, as CSV if its name says so, else as YAML. The error
// begins with name:line and means that the file as a whole cannot be read.
func Read[T any](name string, data []byte) ([]Entry[T], error) {
	fail := func(line int, format string, args ...any) error {
		return fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(format, args...))
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch {
	case len(data) > maxBytes:
		return nil, fail(1, "the file has %d bytes; at most %d are read", len(data), maxBytes)
	case !utf8.Valid(data):
		return nil, fail(badLine(data), "this is not UTF-8 text; save the file in that encoding")
	}
	t := reflect.TypeFor[T]()
	d := decoder{}
	var nodes []*yaml.Node
	var line int
	var err error
	if d.cells = strings.EqualFold(path.Ext(name), ".csv"); d.cells {
		nodes, line, err = rows(data, t)
	} else {
		nodes, line, err = list(data)
	}
	if err != nil {
		return nil, fail(line, "%v", err)
	}
	out := make([]Entry[T], len(nodes))
	for i, n := range nodes {
		d.problems = nil
		out[i].Line = n.Line
		d.value(n, reflect.ValueOf(&out[i].Value).Elem(), rule{}, "")
		out[i].Problems = d.problems
	}
	return out, nil
}

// badLine is the line of the first byte that is no UTF-8.
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
		return nil, 1, errors.New("the file is empty; write [] if there are to be no entries")
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

var yamlLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)

// lineOf takes the line out of what the YAML library says.
func lineOf(err error) ([]*yaml.Node, int, error) {
	message, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		_, _ = fmt.Sscan(m[1], &line) // digits
		message = err.Error()[len(m[0]):]
	}
	return nil, line, errors.New(message)
}
