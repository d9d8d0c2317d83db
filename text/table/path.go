package table

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Path leads to a value in JSON, step by step with dots between: a name enters an
// object, a number counts the entries of a list from 0, and name=value picks the
// first entry of a list that has that value. A dot, equals sign or backslash in
// a name is escaped by a backslash; the last name needs none. The empty path is
// the whole value.
type Path string

// step enters an object or a list by name or number, or picks the entry of a
// list whose field has a value.
type step struct {
	name, value string
	picks       bool
	cut         bool // it ends in a backslash
}

// step returns the first step, what follows its dot, and whether there is a dot.
func (p Path) step() (s step, rest Path, more bool) {
	var b strings.Builder
	end := len(p)
scan:
	for i, r := range string(p) {
		switch {
		case s.cut:
			b.WriteRune(r)
			s.cut = false
		case r == '\\':
			s.cut = true
		case r == '=' && !s.picks:
			s.name, s.picks = b.String(), true
			b.Reset()
		case r == '.':
			end = i
			break scan
		default:
			b.WriteRune(r)
		}
	}
	if s.picks {
		s.value = b.String()
	} else {
		s.name = b.String()
	}
	if end < len(p) {
		return s, p[end+1:], true
	}
	return s, "", false
}

// UnmarshalText refuses a path that cannot lead anywhere.
func (p *Path) UnmarshalText(text []byte) error {
	*p = Path(text)
	for rest, more := *p, *p != ""; more; {
		var s step
		switch s, rest, more = rest.step(); {
		case s.cut:
			return fmt.Errorf(`path %q: ends in a backslash; write \\ for one`, *p)
		case s.name == "":
			return fmt.Errorf("path %q: a step has no name; write a.b.0.c", *p)
		}
	}
	return nil
}

// Find returns the value at the path in valid JSON, nil if it is missing or
// null.
func (p Path) Find(data json.RawMessage) json.RawMessage {
	for p != "" {
		whole := string(p)
		if found := enter(data, whole); found != nil {
			data = found
			break
		}
		var s step
		switch s, p, _ = p.step(); {
		case s.picks:
			data = s.pick(data)
		case s.name == whole:
			return nil
		default:
			data = enter(data, s.name)
		}
	}
	if string(data) == "null" {
		return nil
	}
	return data
}

// enter returns the value of a name in an object, or of a number in a list.
func enter(data json.RawMessage, name string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(data, &object) == nil {
		return object[name]
	}
	var entries []json.RawMessage
	i, err := strconv.Atoi(name)
	if err != nil || json.Unmarshal(data, &entries) != nil || i < 0 || i >= len(entries) {
		return nil
	}
	return entries[i]
}

// pick returns the first entry of a list whose field has the value.
func (s step) pick(data json.RawMessage) json.RawMessage {
	var entries []json.RawMessage
	if json.Unmarshal(data, &entries) != nil {
		return nil
	}
	for _, e := range entries {
		if got, ok := Text(enter(e, s.name)); ok && got == s.value {
			return e
		}
	}
	return nil
}

// Pick is the path of the first entry of a list whose field has the value.
func Pick(name, value string) Path {
	return Path(escapes.Replace(name) + "=" + escapes.Replace(value))
}

var escapes = strings.NewReplacer(`\`, `\\`, ".", `\.`, "=", `\=`)

// List returns the list at the path; ok is false if there is none.
func (p Path) List(data json.RawMessage) (entries []json.RawMessage, ok bool) {
	found := p.Find(data)
	return entries, found != nil && json.Unmarshal(found, &entries) == nil
}

// Text returns a string, number or boolean as text.
func Text(data json.RawMessage) (string, bool) {
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
