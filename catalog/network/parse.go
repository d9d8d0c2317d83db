package network

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"

	"go.yaml.in/yaml/v3"

	"almanac/text/options"
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
	f := &file{options.Decoder{Noun: "key"}, root}
	var n Network
	f.Value(root, reflect.ValueOf(&n).Elem())
	if child(root, "proposals") == nil {
		n.Proposals = Proposals{Prefix: commonPrefix, Statuses: Statuses, Default: Statuses[0]}
	}
	if f.Problems == nil {
		f.validate(n)
	}
	if f.Problems != nil {
		errs := make([]error, len(f.Problems))
		for i, p := range f.Problems {
			errs[i] = fmt.Errorf("%s:%d: %v", name, p.Line, p)
		}
		return Network{}, errors.Join(errs...)
	}
	for i := range n.Sources {
		src := &n.Sources[i]
		src.Options = src.Options.At(name, f.at("sources", i).Line)
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

// located prefixes an error of the YAML library with file and line.
func located(name string, err error) error {
	line, message := options.Located(err)
	return fmt.Errorf("%s:%d: %s", name, line, message)
}

// file reads one network file.
type file struct {
	options.Decoder
	root *yaml.Node
}

func (f *file) report(at *yaml.Node, format string, args ...any) {
	f.Problems = append(f.Problems, options.Problem{Line: at.Line, Message: fmt.Sprintf(format, args...)})
}
