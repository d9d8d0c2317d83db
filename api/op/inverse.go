package op

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Paged is an answer that is a page of a list. Next returns the offset of the
// next page; false on the last one.
type Paged interface {
	Next() (offset int, more bool)
}

// Next returns the arguments for the page after the answer; false if there is
// none.
func (o Operation) Next(in Input, answer any) (Input, bool) {
	page, ok := answer.(Paged)
	if !ok {
		return Input{}, false
	}
	offset, more := page.Next()
	if !more {
		return Input{}, false
	}
	for _, p := range o.Params {
		if p.Name == "offset" {
			next := o.newInput()
			next.v.Set(in.v)
			next.v.FieldByIndex(p.index).SetInt(int64(offset))
			return next, true
		}
	}
	return Input{}, false
}

// Target writes arguments as a REST address relative to the public URL: the
// inverse of Decode. body is set for operations that only POST serves.
// Arguments at their defaults are left out. Items of a list must not contain a
// comma.
func (o Operation) Target(in Input) (target string, body json.RawMessage) {
	query := []string{}
	members := []string{}
	target = o.Path
	for i := range o.Params {
		p := &o.Params[i]
		if !p.REST {
			continue
		}
		v, given := p.rest.given(in.v.FieldByIndex(p.index))
		switch {
		case p.Path:
			target = fillPath(target, p.Name, p.rest.toText(v))
		case !given:
		case o.Method == "POST":
			members = append(members, strconv.Quote(p.Name)+":"+string(p.rest.toJSON(v)))
		default:
			query = append(query, url.QueryEscape(p.Name)+"="+url.QueryEscape(p.rest.toText(v)))
		}
	}
	if len(query) > 0 {
		target += "?" + strings.Join(query, "&")
	}
	if o.Method == "POST" {
		body = json.RawMessage("{" + strings.Join(members, ",") + "}")
	}
	return target, body
}

// Call writes arguments for the tool: the inverse of DecodeTool.
func (o Operation) Call(in Input) json.RawMessage {
	members := []string{}
	for i := range o.Params {
		p := &o.Params[i]
		if p.tool == nil {
			continue
		}
		if v, given := p.tool.given(in.v.FieldByIndex(p.index)); given {
			members = append(members, strconv.Quote(p.ToolName)+":"+string(p.tool.toJSON(v)))
		}
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

// Line writes arguments for the command line: name=value, lists separated by
// commas. It is the inverse of DecodeLine.
func (o Operation) Line(in Input) []string {
	words := []string{}
	for i := range o.Params {
		p := &o.Params[i]
		if a, name := p.named(); a != nil {
			if v, given := a.given(in.v.FieldByIndex(p.index)); given {
				words = append(words, name+"="+a.toText(v))
			}
		}
	}
	return words
}

// Shell joins words for a shell, quoted where they must be.
func Shell(words ...string) string {
	out := slices.Clone(words)
	for i, word := range out {
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=_-.,:/") != "" {
			out[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// ExampleInput returns the operation's Example as arguments; false if it has
// none.
func (o Operation) ExampleInput() (Input, bool) {
	if o.Example == nil {
		return Input{}, false
	}
	in := o.newInput()
	in.v.Set(reflect.ValueOf(o.Example))
	for _, p := range o.Params {
		if v := in.v.FieldByIndex(p.index); o.Words != nil && v.Kind() == reflect.String {
			v.SetString(o.Words.Replace(v.String()))
		}
	}
	return in, true
}

// WithExample returns the operation with another example: arguments as on the
// command line.
func (o Operation) WithExample(words []string) (Operation, error) {
	in, err := o.DecodeLine(words)
	if err != nil {
		return o, err
	}
	return o.WithInput(in), nil
}

// WithInput returns the operation with arguments as its example.
func (o Operation) WithInput(in Input) Operation {
	o.Example = in.v.Interface()
	return o
}

// ExampleValues returns the arguments of the Example as JSON, by their names in DecodeNamed.
func (o Operation) ExampleValues() map[string]json.RawMessage {
	in, ok := o.ExampleInput()
	if !ok {
		return nil
	}
	values := map[string]json.RawMessage{}
	for i := range o.Params {
		p := &o.Params[i]
		a, name := o.named(p)
		if a == nil {
			continue
		}
		if v, given := a.given(in.v.FieldByIndex(p.index)); given {
			values[name] = a.toJSON(v)
		}
	}
	return values
}

// checkExample fails on an example that the operation would refuse.
func (o Operation) checkExample() {
	if reflect.TypeOf(o.Example) != o.in {
		o.fail("Example is %T, want %s", o.Example, o.in)
	}
	in, _ := o.ExampleInput()
	if o.Tool == "" {
		return
	}
	if _, err := o.DecodeTool(o.Call(in)); err != nil {
		o.fail("Example: %v", err)
	}
}

// given returns the value of a field without its pointer, and whether it must
// be written: whether leaving it out would decode to another value.
func (a *argument) given(field reflect.Value) (reflect.Value, bool) {
	if a.pointer {
		return field.Elem(), !field.IsNil()
	}
	if a.def.IsValid() {
		return field, !reflect.DeepEqual(field.Interface(), a.def.Interface())
	}
	return field, a.required || !field.IsZero() && (!a.list || field.Len() > 0)
}

// toText writes a value as fromText reads it.
func (a *argument) toText(v reflect.Value) string {
	if !a.list {
		return a.scalarText(v)
	}
	items := make([]string, v.Len())
	for i := range items {
		items[i] = a.scalarText(v.Index(i))
	}
	return strings.Join(items, ",")
}

func (a *argument) scalarText(v reflect.Value) string {
	switch a.form {
	case formInteger:
		return strconv.FormatInt(v.Int(), 10)
	case formFloat:
		return strconv.FormatFloat(v.Float(), 'g', -1, a.typ.Bits())
	case formBoolean:
		return strconv.FormatBool(v.Bool())
	case formTime:
		t := v.Convert(timeType).Interface().(time.Time).UTC()
		if t.Equal(t.Truncate(24 * time.Hour)) {
			return t.Format(time.DateOnly)
		}
		return t.Format(time.RFC3339Nano)
	case formObject:
		return string(a.toJSON(v))
	}
	return v.String()
}

// toJSON writes a value as fromJSON reads it.
func (a *argument) toJSON(v reflect.Value) json.RawMessage {
	if a.list {
		items := make([]string, v.Len())
		for i := range items {
			items[i] = string(a.scalarToJSON(v.Index(i)))
		}
		return json.RawMessage("[" + strings.Join(items, ",") + "]")
	}
	return a.scalarToJSON(v)
}

func (a *argument) scalarToJSON(v reflect.Value) json.RawMessage {
	var value any = v.Interface()
	switch a.form {
	case formTime, formText:
		text := a.scalarText(v)
		if n, err := strconv.ParseInt(text, 10, 64); a.item().Type == "integer" && err == nil &&
			strconv.FormatInt(n, 10) == text {
			return json.RawMessage(text)
		}
		value = text
	}
	raw, err := Encode(value)
	if err != nil { // an object was decoded by encoding/json
		panic("op: " + err.Error())
	}
	return raw
}

// fillPath replaces {name} or {name...} by a value.
func fillPath(path, name, value string) string {
	if rest := "{" + name + "...}"; strings.Contains(path, rest) {
		segments := strings.Split(value, "/")
		for i, s := range segments {
			segments[i] = url.PathEscape(s)
		}
		return strings.Replace(path, rest, strings.Join(segments, "/"), 1)
	}
	return strings.Replace(path, "{"+name+"}", url.PathEscape(value), 1)
}
