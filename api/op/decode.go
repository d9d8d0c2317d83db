package op

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Decode reads the arguments of a REST call: the parameters of path and query,
// and for POST the members of the JSON object in body. Unknown parameters and
// members are ignored, unless they are near a known one that is not given: then
// they are misspelt. Every error is ErrInvalid with a sentence that names the
// parameter and the values allowed.
func (o Operation) Decode(path map[string]string, query url.Values, body []byte) (Input, error) {
	in := o.newInput()
	var members map[string]json.RawMessage
	if o.Method == "POST" || len(body) > 0 {
		var err error
		if members, err = decodeObject(body); err != nil {
			return in, Invalid("the body must be one JSON object: %v", err)
		}
	}
	if err := o.checkSpelling(query, members); err != nil {
		return in, err
	}
	for i := range o.Params {
		p := &o.Params[i]
		if !p.REST {
			continue
		}
		v, err := p.rest.decodeREST(p.Path, path, query, members)
		if err != nil {
			return in, err
		}
		if v.IsValid() {
			p.rest.store(in.v.FieldByIndex(p.index), v)
		}
	}
	return in, nil
}

// DecodeTool reads the arguments of a tool call, a JSON object or nothing. Null
// counts as absent; an unknown argument is an error that names the nearest
// known one.
func (o Operation) DecodeTool(args json.RawMessage) (Input, error) {
	in := o.newInput()
	var members map[string]json.RawMessage
	if args = bytes.TrimSpace(args); len(args) > 0 && string(args) != "null" {
		var err error
		if members, err = decodeObject(args); err != nil {
			return in, Invalid("arguments must be one JSON object: %v", err)
		}
	}
	if err := o.checkKnown(members); err != nil {
		return in, err
	}
	for i := range o.Params {
		p := &o.Params[i]
		if p.tool == nil {
			continue
		}
		v, err := p.tool.decodeMember(members)
		if err != nil {
			return in, err
		}
		if v.IsValid() {
			p.tool.store(in.v.FieldByIndex(p.index), v)
		}
	}
	return in, nil
}

func (o Operation) newInput() Input {
	return Input{v: reflect.New(o.in).Elem()}
}

// decodeREST returns the zero reflect.Value if the parameter is absent and has
// no default.
func (a *argument) decodeREST(
	inPath bool, path map[string]string, query url.Values, members map[string]json.RawMessage,
) (v reflect.Value, err error) {
	switch {
	case inPath:
		return a.fromText(path[a.name])
	case members != nil:
		return a.decodeMember(members)
	}
	raw := query[a.name]
	if len(raw) > 1 {
		return v, Invalid("%s must be given once", a.name)
	}
	if len(raw) == 0 || raw[0] == "" && !a.required && (a.form == formText || a.list) {
		return a.absent()
	}
	return a.fromText(raw[0])
}

func (a *argument) decodeMember(members map[string]json.RawMessage) (reflect.Value, error) {
	raw, ok := members[a.name]
	if !ok || string(raw) == "null" {
		return a.absent()
	}
	return a.fromJSON(raw)
}

func (a *argument) absent() (reflect.Value, error) {
	if a.required {
		return reflect.Value{}, Invalid("%s is required", a.name)
	}
	if a.def.IsValid() && a.list { // a copy, as the caller owns the result
		return reflect.AppendSlice(reflect.MakeSlice(a.def.Type(), 0, a.def.Len()), a.def), nil
	}
	return a.def, nil
}

// decodeObject splits a JSON object into its members. Repeated names and
// anything after the object are errors.
func decodeObject(data []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(data) {
		return nil, errors.New("it is not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	start, err := dec.Token()
	if err != nil {
		return nil, errors.New("it is not valid JSON")
	}
	if start != json.Delim('{') {
		return nil, errors.New("it is not an object")
	}
	members := map[string]json.RawMessage{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, errors.New("it is not valid JSON")
		}
		key := name.(string)
		if _, ok := members[key]; ok {
			return nil, errors.New(Cut(key) + " is repeated")
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, errors.New("it is not valid JSON")
		}
		members[key] = raw
	}
	if _, err := dec.Token(); err != nil {
		return nil, errors.New("it is not valid JSON")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("something follows it")
	}
	return members, nil
}

// DecodeLine reads the arguments of a command line, each name=value. The names
// are those of the tool, or of REST if the operation is not a tool.
func (o Operation) DecodeLine(words []string) (Input, error) {
	in := o.newInput()
	values := map[string]string{}
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return in, Invalid("%q: an argument is written name=value", word)
		}
		if _, twice := values[name]; twice {
			return in, Invalid("%s must be given once", name)
		}
		values[name] = value
	}
	return o.decodeNamed(values, (*Param).named)
}

// DecodeNamed reads arguments by their names on REST, or by those of the tool if
// REST does not serve the operation.
func (o Operation) DecodeNamed(values map[string]string) (Input, error) {
	return o.decodeNamed(values, o.named)
}

// Argument returns what checks a value of an argument of DecodeNamed. Its error says
// which arguments there are.
func (o Operation) Argument(name string) (check func(value string) error, err error) {
	var names []string
	for i := range o.Params {
		a, known := o.named(&o.Params[i])
		if a == nil {
			continue
		}
		if known == name {
			return func(value string) error { _, err := a.fromLine(value); return err }, nil
		}
		names = append(names, known)
	}
	return nil, unknownArgument([]string{name}, names, o.ID)
}

func (o Operation) decodeNamed(values map[string]string, named func(*Param) (*argument, string)) (Input, error) {
	in := o.newInput()
	var names []string
	for i := range o.Params {
		if _, name := named(&o.Params[i]); name != "" {
			names = append(names, name)
		}
	}
	given := slices.DeleteFunc(slices.Sorted(maps.Keys(values)),
		func(name string) bool { return slices.Contains(names, name) })
	if err := unknownArgument(given, names, cmp.Or(o.Tool, o.ID)); err != nil {
		return in, err
	}
	for i := range o.Params {
		p := &o.Params[i]
		a, name := named(p)
		if a == nil {
			continue
		}
		raw, ok := values[name]
		v, err := a.absent()
		if ok {
			v, err = a.fromLine(raw)
		}
		if err != nil {
			return in, err
		}
		if v.IsValid() {
			a.store(in.v.FieldByIndex(p.index), v)
		}
	}
	return in, nil
}

// fromLine is fromText, with objects as JSON.
func (a *argument) fromLine(raw string) (reflect.Value, error) {
	if a.form == formObject && json.Valid([]byte(raw)) {
		return a.fromJSON(json.RawMessage(raw))
	}
	return a.fromText(raw)
}

// named returns the argument and name of a parameter on the command line.
func (p *Param) named() (*argument, string) {
	if p.tool != nil {
		return p.tool, p.ToolName
	}
	if p.REST {
		return p.rest, p.Name
	}
	return nil, ""
}

// named returns the argument and name of a parameter for DecodeNamed.
func (o Operation) named(p *Param) (*argument, string) {
	switch {
	case o.Path == "":
		return p.named()
	case p.REST:
		return p.rest, p.Name
	}
	return nil, ""
}
