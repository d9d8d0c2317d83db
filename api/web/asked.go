package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"almanac/api/op"
)

// asked is an operation with its arguments and its answer.
type asked struct {
	op     op.Operation
	in     op.Input
	answer any
}

// decode reads the arguments of an ask, as REST reads them.
func (h *Handler) decode(a ask, vars map[string]string, query url.Values) (op.Operation, op.Input, error) {
	o := h.ops[a.op]
	values := map[string]string{}
	for word := range strings.FieldsSeq(a.args) {
		word, passed := strings.CutSuffix(word, "?")
		name, v, _ := strings.Cut(word, "=")
		if passed {
			if given := query.Get(cmp.Or(v, name)); given != "" {
				values[name] = given
			}
			continue
		}
		for key, value := range vars {
			v = strings.ReplaceAll(v, "{"+key+"}", value)
		}
		values[name] = v
	}
	if o.Path == "" {
		words := []string{}
		for name, v := range values {
			words = append(words, name+"="+v)
		}
		in, err := o.DecodeLine(words)
		return o, in, err
	}
	path, rest := map[string]string{}, url.Values{}
	for name, v := range values {
		if i := slices.IndexFunc(o.Params, func(p op.Param) bool { return p.Name == name }); i >= 0 && o.Params[i].Path {
			path[name] = v
		} else {
			rest.Set(name, v)
		}
	}
	in, err := o.Decode(path, rest, nil)
	return o, in, err
}

// run asks one operation.
func (h *Handler) run(ctx context.Context, a ask, vars map[string]string, query url.Values) (asked, error) {
	o, in, err := h.decode(a, vars, query)
	if err != nil {
		return asked{}, err
	}
	answer, err := o.Run(ctx, in)
	return asked{o, in, answer}, err
}

// into reads an answer as a client of REST would.
func into[T any](answer any) (out T, err error) {
	raw, err := op.Encode(answer)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, err
}

// field returns a field of a struct, or nil if it has none of that name.
func field(v any, name string) any {
	r := reflect.ValueOf(v)
	for r.IsValid() && (r.Kind() == reflect.Pointer || r.Kind() == reflect.Interface) {
		r = r.Elem()
	}
	if !r.IsValid() || r.Kind() != reflect.Struct {
		return nil
	}
	if f := r.FieldByName(name); f.IsValid() && f.CanInterface() {
		return f.Interface()
	}
	return nil
}

// text is a field that is a string; "" if there is none.
func text(v any, name string) string {
	s, _ := field(v, name).(string)
	return s
}

// Same is how to get an answer by other means.
type Same struct {
	Name, Summary    string
	REST, Line, Call string // "" = not served there
}

// same writes what a page asked for the other interfaces.
func (h *Handler) same(all []asked) (out []Same) {
	for _, a := range all {
		s := Same{Name: cmp.Or(a.op.Tool, a.op.ID), Summary: a.op.Summary}
		if a.op.Path != "" {
			target, _ := a.op.Target(a.in)
			s.REST = "curl " + quote(h.cfg.PublicURL+target)
		}
		words := []string{"almanac", "tools", "call", s.Name}
		for _, word := range a.op.Line(a.in) {
			words = append(words, quote(word))
		}
		s.Line = strings.Join(words, " ")
		if a.op.Tool != "" {
			s.Call = fmt.Sprintf(`{"name": %q, "arguments": %s}`, a.op.Tool, a.op.Call(a.in))
		}
		out = append(out, s)
	}
	return out
}

// quote quotes a word for a shell if it must be.
func quote(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789=_-.,:/") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
