package entries

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"almanac/text/nearest"
	"almanac/text/options"
)

// listSeparator separates the items of a list in a cell.
const listSeparator = ";"

// rows returns the rows of a table as the mappings of a YAML file. The first row
// names the fields. If it has semicolons and no commas, semicolons separate the
// cells, as spreadsheets write them in many countries.
func rows(data []byte, t reflect.Type) (items []*yaml.Node, line int, err error) {
	head, _, _ := bytes.Cut(bytes.TrimLeft(data, "\r\n"), []byte("\n"))
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	if bytes.ContainsRune(head, ';') && !bytes.ContainsRune(head, ',') {
		r.Comma = ';'
	}
	var columns []options.Field
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if bad, ok := errors.AsType[*csv.ParseError](err); ok {
			return nil, bad.Line, bad.Err
		}
		line, _ = r.FieldPos(0)
		if columns == nil {
			if columns, err = header(cells, t); err != nil {
				return nil, line, err
			}
			continue
		}
		if item := row(cells, columns, line); item != nil {
			items = append(items, item)
		}
	}
	if columns == nil {
		return nil, 1, errors.New("the file is empty; its first row must name the fields")
	}
	return items, 0, nil
}

// header returns the fields that the cells of the first row name.
func header(cells []string, t reflect.Type) ([]options.Field, error) {
	known := options.Fields(t)
	flat := slices.DeleteFunc(slices.Clone(known), func(f options.Field) bool { return nested(f.Type) })
	columns := make([]options.Field, 0, len(cells))
	for _, cell := range cells {
		name := strings.ToLower(strings.TrimSpace(cell))
		at := slices.IndexFunc(known, func(f options.Field) bool { return f.Name == name })
		switch {
		case at < 0:
			return nil, errors.New(nearest.Unknown("column", cell, options.Names(flat)))
		case nested(known[at].Type):
			return nil, fmt.Errorf("column %q: its values have fields, which only a YAML file can hold", name)
		case slices.ContainsFunc(columns, func(f options.Field) bool { return f.Name == name }):
			return nil, fmt.Errorf("column %q is a duplicate", name)
		}
		columns = append(columns, known[at])
	}
	return columns, nil
}

// nested reports whether the values of a field have fields themselves.
func nested(t reflect.Type) bool {
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

// row makes the mapping of a row; nil for one without any text. A cell beyond the
// header is an unknown field, which the decoder reports.
func row(cells []string, columns []options.Field, line int) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode, Line: line}
	for i, cell := range cells {
		if cell = strings.TrimSpace(cell); cell == "" {
			continue
		}
		f := options.Field{Name: fmt.Sprintf("cell %d", i+1)}
		if i < len(columns) {
			f = columns[i]
		}
		value := &yaml.Node{Kind: yaml.ScalarNode, Value: cell, Line: line}
		if f.Type != nil && f.Type.Kind() == reflect.Slice {
			value = &yaml.Node{Kind: yaml.SequenceNode, Line: line}
			for part := range strings.SplitSeq(cell, listSeparator) {
				if part = strings.TrimSpace(part); part != "" {
					value.Content = append(value.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: part, Line: line})
				}
			}
		}
		m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: f.Name, Line: line}, value)
	}
	if len(m.Content) == 0 {
		return nil
	}
	return m
}
