package op

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Encode writes an answer as JSON: nil slices and maps as [] and {}, times in
// UTC, <, > and & unescaped. The answer is not modified, so it may be shared
// between requests: parts that need a change are copied.
func Encode(answer any) ([]byte, error) { return encode(answer, whole) }

// EncodeTool is Encode without the fields that Leaner empties.
func EncodeTool(answer any) ([]byte, error) { return encode(answer, leaned) }

func encode(answer any, t tidiers) ([]byte, error) {
	if answer == nil {
		return []byte("null"), nil
	}
	v := reflect.New(reflect.TypeOf(answer)).Elem()
	v.Set(reflect.ValueOf(answer))
	if tidy := t.of(v.Type()); tidy != nil {
		tidy(v)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v.Addr().Interface()); err != nil {
		return nil, fmt.Errorf("op: encode: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// A tidier makes a settable value fit its schema. It may change the value but
// not data that the value points to.
type tidier func(reflect.Value)

// tidiers compiles the tidier of a type once.
type tidiers struct {
	lean  bool
	cache *sync.Map // reflect.Type → tidier, nil if the type never needs one
}

var whole, leaned = tidiers{cache: &sync.Map{}}, tidiers{lean: true, cache: &sync.Map{}}

// of returns the tidier of a type. Recursive types have no schema and occur
// only inside an interface.
func (ts tidiers) of(t reflect.Type) tidier {
	if f, ok := ts.cache.Load(t); ok {
		return f.(tidier)
	}
	f := ts.compile(t)
	ts.cache.Store(t, f)
	return f
}

func (ts tidiers) compile(t reflect.Type) tidier {
	if t == reflect.TypeFor[time.Time]() {
		return func(v reflect.Value) { v.Set(reflect.ValueOf(v.Interface().(time.Time).UTC())) }
	}
	if encodesItself(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Interface:
		return ts.interfaceValue
	case reflect.Pointer:
		if elem := ts.of(t.Elem()); elem != nil {
			return pointerValue(t, elem)
		}
	case reflect.Slice:
		return ts.sliceValue(t)
	case reflect.Array:
		if elem := ts.of(t.Elem()); elem != nil {
			return arrayValue(elem)
		}
	case reflect.Map:
		return ts.mapValue(t)
	case reflect.Struct:
		return ts.structValue(t)
	}
	return nil
}

func encodesItself(t reflect.Type) bool {
	if t.Kind() == reflect.Interface {
		return false
	}
	for _, i := range []reflect.Type{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if t.Implements(i) && !(t.Kind() == reflect.Pointer && t.Elem() == reflect.TypeFor[time.Time]()) {
			return true
		}
	}
	return false
}

func (ts tidiers) interfaceValue(v reflect.Value) {
	if v.IsNil() {
		return
	}
	if tidy := ts.of(v.Elem().Type()); tidy != nil {
		c := reflect.New(v.Elem().Type()).Elem()
		c.Set(v.Elem())
		tidy(c)
		v.Set(c)
	}
}

func pointerValue(t reflect.Type, elem tidier) tidier {
	return func(v reflect.Value) {
		if !v.IsNil() {
			c := reflect.New(t.Elem())
			c.Elem().Set(v.Elem())
			elem(c.Elem())
			v.Set(c)
		}
	}
}

func (ts tidiers) sliceValue(t reflect.Type) tidier {
	elem := ts.of(t.Elem())
	return func(v reflect.Value) {
		switch {
		case v.IsNil():
			v.Set(reflect.MakeSlice(t, 0, 0))
		case elem != nil:
			c := reflect.MakeSlice(t, v.Len(), v.Len())
			reflect.Copy(c, v)
			for i := range c.Len() {
				elem(c.Index(i))
			}
			v.Set(c)
		}
	}
}

func arrayValue(elem tidier) tidier {
	return func(v reflect.Value) {
		for i := range v.Len() {
			elem(v.Index(i))
		}
	}
}

func (ts tidiers) mapValue(t reflect.Type) tidier {
	elem := ts.of(t.Elem())
	return func(v reflect.Value) {
		switch {
		case v.IsNil():
			v.Set(reflect.MakeMap(t))
		case elem != nil:
			c := reflect.MakeMapWithSize(t, v.Len())
			for it := v.MapRange(); it.Next(); {
				e := reflect.New(t.Elem()).Elem()
				e.Set(it.Value())
				elem(e)
				c.SetMapIndex(it.Key(), e)
			}
			v.Set(c)
		}
	}
}

func (ts tidiers) structValue(t reflect.Type) tidier {
	type part struct {
		index    int
		embedded bool
		omitzero bool
		tidy     tidier
	}
	var parts []part
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct) || f.Tag.Get("json") == "-" {
			continue
		}
		if tidy := ts.of(f.Type); tidy != nil {
			_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			embedded := f.Anonymous && f.Type.Kind() == reflect.Struct
			parts = append(parts, part{i, embedded, strings.Contains(options, "omitzero"), tidy})
		}
	}
	leaner := ts.lean && reflect.PointerTo(t).Implements(leanerType)
	if len(parts) == 0 && !leaner {
		return nil
	}
	return func(v reflect.Value) {
		if leaner && v.CanInterface() {
			v.Addr().Interface().(Leaner).Lean()
		}
		for _, p := range parts {
			// The fields of an embedded struct can be set even if it cannot.
			if f := v.Field(p.index); (p.embedded || f.CanSet()) && !(p.omitzero && f.IsZero()) {
				p.tidy(f)
			}
		}
	}
}

// Leaner is a part of an answer with redundant fields. Lean empties those that
// a model need not read; they have omitempty or omitzero, and required:"true" if
// REST always has them. It is called on a copy, more than once if it is
// promoted, so it must be idempotent.
type Leaner interface{ Lean() }

var leanerType = reflect.TypeFor[Leaner]()

// lean copies the schema of an answer for tools, where fields that Lean may
// empty are optional although REST always has them.
func lean(s *jsonschema.Schema, types map[*jsonschema.Schema]reflect.Type) *jsonschema.Schema {
	if s == nil {
		return nil
	}
	c := *s
	if t, ok := types[s]; ok {
		c.Required = slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool {
			f, ok := fieldNamed(t, name)
			return ok && f.Tag.Get("required") == "true"
		})
	}
	if s.Properties != nil {
		c.Properties = make(map[string]*jsonschema.Schema, len(s.Properties))
		for name, p := range s.Properties {
			c.Properties[name] = lean(p, types)
		}
	}
	c.Items = lean(s.Items, types)
	c.AdditionalProperties = lean(s.AdditionalProperties, types)
	return &c
}

func fieldNamed(t reflect.Type, name string) (reflect.StructField, bool) {
	for _, f := range reflect.VisibleFields(t) {
		if !f.Anonymous && jsonName(f) == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}
