package market

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// path leads to a value in JSON; doc.go describes its form.
type path struct {
	text  string
	steps []step
}

// step enters an object or a list by name or number, or picks the entry of a
// list whose field has a value.
type step struct {
	name  string
	value string
	picks bool
}

func parsePath(text string) (path, error) {
	p := path{text: text}
	if text == "" {
		return p, nil
	}
	var s step
	var b strings.Builder
	end := func() error {
		if s.picks {
			s.value = b.String()
		} else {
			s.name = b.String()
		}
		if s.name == "" {
			return fmt.Errorf("path %q: a step has no name; write a.b.0.c", text)
		}
		p.steps, s = append(p.steps, s), step{}
		b.Reset()
		return nil
	}
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '.':
			if err := end(); err != nil {
				return path{}, err
			}
		case r == '=' && !s.picks:
			s.name, s.picks = b.String(), true
			b.Reset()
		default:
			b.WriteRune(r)
		}
	}
	if escaped {
		return path{}, fmt.Errorf(`path %q: ends in a backslash; write \\ for one`, text)
	}
	return p, end()
}

// UnmarshalYAML reads a path from a scalar.
func (p *path) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode {
		return errors.New("want a path such as a.b.0.c")
	}
	var err error
	*p, err = parsePath(node.Value)
	return err
}

// find returns the value at the path in valid JSON, nil if it is missing or
// null.
func (p path) find(data json.RawMessage) json.RawMessage {
	for _, s := range p.steps {
		if data = s.enter(data); data == nil {
			return nil
		}
	}
	if string(data) == "null" {
		return nil
	}
	return data
}

func (s step) enter(data json.RawMessage) json.RawMessage {
	if s.picks {
		var entries []json.RawMessage
		if json.Unmarshal(data, &entries) != nil {
			return nil
		}
		for _, e := range entries {
			if got, ok := text(step{name: s.name}.enter(e)); ok && got == s.value {
				return e
			}
		}
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) == nil {
		return object[s.name]
	}
	var entries []json.RawMessage
	i, err := strconv.Atoi(s.name)
	if err != nil || json.Unmarshal(data, &entries) != nil || i < 0 || i >= len(entries) {
		return nil
	}
	return entries[i]
}

// list is find for a list; ok is false if it is not one.
func (p path) list(data json.RawMessage) (entries []json.RawMessage, ok bool) {
	found := p.find(data)
	return entries, found != nil && json.Unmarshal(found, &entries) == nil
}

// text returns a string, number or boolean as text.
func text(data json.RawMessage) (string, bool) {
	if len(data) == 0 {
		return "", false
	}
	switch data[0] {
	case '"':
		var s string
		err := json.Unmarshal(data, &s)
		return strings.TrimSpace(s), err == nil
	case '{', '[', 'n':
		return "", false
	}
	return string(data), true
}
