package options

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/text/nearest"
)

// Decode reads options over their defaults. The error has a line for each problem.
func Decode[T any](n Node, defaults T) (T, error) {
	err := n.Into(reflect.ValueOf(&defaults).Elem())
	return defaults, err
}

// Into is Decode for a type that is known at run time.
func (n Node) Into(v reflect.Value) error {
	root := n.root
	if root == nil {
		root = &yaml.Node{Kind: yaml.MappingNode, Line: n.line}
	}
	d := Decoder{Noun: "option", Loose: true}
	d.Value(root, v)
	errs := make([]error, len(d.Problems))
	for i, p := range d.Problems {
		errs[i] = n.located(p.Line, errors.New(p.String()))
	}
	return errors.Join(errs...)
}

var lineNumber = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)

// Located returns the line of an error of the YAML library, 1 if it names none, and
// the error without it.
func Located(err error) (line int, message string) {
	message = err.Error()
	at := lineNumber.FindStringSubmatch(message)
	if at == nil {
		return 1, strings.TrimPrefix(message, "yaml: ")
	}
	line, _ = strconv.Atoi(at[1]) // digits
	return line, message[len(at[0]):]
}

// Decoder fills values from the nodes of a YAML file and collects what is wrong.
type Decoder struct {
	Noun string // what a key of a mapping is called: option, field, key
	// Loose: an option may be left without a value, and a text may be a number: 2.10.
	Loose bool
	// Trim: texts lose the space around them and must not be empty.
	Trim bool
	// Cells: values come from a table, so that the field determines their type.
	Cells    bool
	Problems []Problem
}

// Problem is what is wrong in a line.
type Problem struct {
	Line    int
	Path    string // papers[2].slug; "" = the whole
	Message string
}

func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// maxProblems is how many problems are named.
const maxProblems = 20

func (d *Decoder) report(n *yaml.Node, path, format string, args ...any) {
	switch {
	case len(d.Problems) == maxProblems:
		d.Problems = append(d.Problems, Problem{n.Line, "", "there are further problems"})
	case len(d.Problems) < maxProblems:
		d.Problems = append(d.Problems, Problem{n.Line, path, fmt.Sprintf(format, args...)})
	}
}

// Value reads a node into a value that can be set. Aliases are rejected: a few
// lines of them can expand to gigabytes.
func (d *Decoder) Value(n *yaml.Node, v reflect.Value) { d.value(n, v, Field{}, "") }

func (d *Decoder) value(n *yaml.Node, v reflect.Value, f Field, path string) {
	isNull := n.Kind == yaml.ScalarNode && !d.Cells && n.ShortTag() == "!!null"
	switch {
	case n.Kind == yaml.AliasNode:
		d.later(n, path)
		return
	case isNull && d.Loose:
		return
	case isNull:
		d.report(n, path, "has no value; leave it out if there is none")
		return
	}
	switch own := v.Addr().Interface().(type) {
	case *Node:
		if own.root = n; n.Kind != yaml.MappingNode {
			d.report(n, path, "want names with values")
			return
		}
		d.later(n, path)
		return
	case encoding.TextUnmarshaler:
		if n.Kind != yaml.ScalarNode {
			break
		}
		if err := own.UnmarshalText([]byte(n.Value)); err != nil {
			d.report(n, path, "%v", err)
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), f, path)
	case reflect.Struct:
		d.structure(n, v, path)
	case reflect.Slice:
		d.list(n, v, f, path)
	case reflect.Map:
		d.mapping(n, v, f, path)
	default:
		if n.Kind != yaml.ScalarNode {
			d.report(n, path, "want one value, not a list or %ss", d.Noun)
			return
		}
		d.scalar(n, v, f, path)
	}
}

// later checks what another Decoder will read: only what no type allows is wrong.
func (d *Decoder) later(n *yaml.Node, path string) {
	switch n.Kind {
	case yaml.AliasNode:
		d.report(n, path, "aliases (*%s) are not supported; write the value out", n.Value)
	case yaml.MappingNode:
		d.pairs(n, path, func(key, value *yaml.Node) { d.later(value, join(path, key.Value)) })
	case yaml.SequenceNode:
		for i, item := range n.Content {
			d.later(item, path+"["+strconv.Itoa(i+1)+"]")
		}
	default:
		if n.Decode(new(any)) != nil {
			d.report(n, path, "%s cannot be read", n.Value)
		}
	}
}

// pairs calls visit with the keys of a mapping and their values.
func (d *Decoder) pairs(n *yaml.Node, path string, visit func(key, value *yaml.Node)) {
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode:
			d.report(key, path, "a %s is a word, not a list or %ss", d.Noun, d.Noun)
		case key.ShortTag() == "!!merge":
			d.report(key, path, "merging (<<) is not supported; write the values out")
		case seen[key.Value]:
			d.report(key, join(path, key.Value), "is a duplicate")
		default:
			seen[key.Value] = true
			visit(key, n.Content[i+1])
		}
	}
}

func (d *Decoder) structure(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.report(n, path, "want %ss with values", d.Noun)
		return
	}
	before := len(d.Problems)
	known := Fields(v.Type())
	given := map[string]bool{}
	d.pairs(n, path, func(key, value *yaml.Node) {
		f, ok := find(known, key.Value)
		if !ok {
			d.report(key, path, "%s", nearest.Unknown(d.Noun, key.Value, Names(known)))
			return
		}
		given[f.Name] = true
		d.value(value, f.In(v), f, join(path, f.Name))
	})
	for _, f := range known {
		if f.Required && (!given[f.Name] || d.Loose && isEmpty(f.In(v))) {
			d.report(n, path, "the %s %s is missing", d.Noun, f.Name)
		}
	}
	if c, ok := v.Addr().Interface().(interface{ Check() error }); ok && len(d.Problems) == before {
		if err := c.Check(); err != nil {
			d.report(under(n, err), path, "%v", err)
		}
	}
}

func isEmpty(v reflect.Value) bool {
	return v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

// Invalid is the error of a Check about one of the struct's fields.
type Invalid struct {
	Field string
	Err   error
}

func (e *Invalid) Error() string { return e.Field + ": " + e.Err.Error() }

func (e *Invalid) Unwrap() error { return e.Err }

// Errorf returns the error of a Check about a field: "sweep", "papers[2].slug".
func Errorf(field, format string, args ...any) error {
	return &Invalid{field, fmt.Errorf(format, args...)}
}

// Item names an entry of a list in an error of a Check.
func Item(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i+1) }

// under returns the node of the field that an error is about, or the nearest one
// around it.
func under(n *yaml.Node, err error) *yaml.Node {
	invalid, ok := errors.AsType[*Invalid](err)
	if !ok {
		return n
	}
	for step := range strings.FieldsFuncSeq(invalid.Field, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		next := child(n, step)
		if i, err := strconv.Atoi(step); err == nil && n.Kind == yaml.SequenceNode && i >= 1 && i <= len(n.Content) {
			next = n.Content[i-1]
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (d *Decoder) list(n *yaml.Node, v reflect.Value, f Field, path string) {
	if n.Kind != yaml.SequenceNode {
		d.report(n, path, "want a list")
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		d.value(item, v.Index(i), f, path+"["+strconv.Itoa(i+1)+"]")
	}
	if f.Unique != "" {
		d.unique(n, v, f, path)
	}
}

// unique reports the entries of a list that have the text of an earlier one.
func (d *Decoder) unique(n *yaml.Node, v reflect.Value, f Field, path string) {
	met := map[string]bool{}
	for i, item := range n.Content {
		text, what := v.Index(i), ""
		if text.Kind() == reflect.Struct {
			own, _ := find(Fields(text.Type()), f.Unique)
			text = own.In(text)
			what = fmt.Sprintf("%s %q ", own.Name, text)
		}
		if text.Len() > 0 && met[text.String()] {
			d.report(item, path+"["+strconv.Itoa(i+1)+"]", "%sappears twice", what)
		}
		met[text.String()] = true
	}
}

func (d *Decoder) mapping(n *yaml.Node, v reflect.Value, f Field, path string) {
	if n.Kind != yaml.MappingNode {
		d.report(n, path, "want names with values")
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	d.pairs(n, path, func(key, value *yaml.Node) {
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(value, item, f, join(path, key.Value))
		name := reflect.New(v.Type().Key())
		name.Elem().SetString(key.Value)
		if own, ok := name.Interface().(encoding.TextUnmarshaler); ok {
			if err := own.UnmarshalText([]byte(key.Value)); err != nil {
				d.report(key, path, "%v", err)
			}
		}
		v.SetMapIndex(name.Elem(), item)
	})
}

var durationType = reflect.TypeFor[time.Duration]()

func (d *Decoder) scalar(n *yaml.Node, v reflect.Value, f Field, path string) {
	switch {
	case v.Type() == durationType:
		d.duration(n, v, f, path)
	case v.Kind() == reflect.String:
		d.text(n, v, f, path)
	case v.CanInt():
		base := 0 // as YAML reads it
		if d.Cells {
			base = 10
		}
		i, err := strconv.ParseInt(n.Value, base, v.Type().Bits())
		if err != nil || !d.Cells && n.ShortTag() != "!!int" {
			d.report(n, path, "%q is not a whole number", n.Value)
			return
		}
		v.SetInt(i)
		if least, err := strconv.ParseInt(f.Min, 10, 64); err == nil && i < least {
			d.report(n, path, "%d is less than %d", i, least)
		}
	case v.CanFloat():
		var x float64
		if err := n.Decode(&x); err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			d.report(n, path, "%q is not a number", n.Value)
			return
		}
		v.SetFloat(x)
	case v.Kind() == reflect.Bool:
		d.truth(n, v, path)
	default:
		panic("options: no field may be a " + v.Type().String())
	}
}

func (d *Decoder) truth(n *yaml.Node, v reflect.Value, path string) {
	word := strings.ToLower(n.Value)
	if word != "true" && word != "false" && !(d.Cells && (word == "yes" || word == "no")) ||
		!d.Cells && n.ShortTag() != "!!bool" {
		d.report(n, path, "%q is neither true nor false", n.Value)
		return
	}
	v.SetBool(word == "true" || word == "yes")
}

func (d *Decoder) duration(n *yaml.Node, v reflect.Value, f Field, path string) {
	t, err := time.ParseDuration(n.Value)
	least, _ := time.ParseDuration(f.Min)
	switch {
	case err != nil || !d.Loose && n.ShortTag() != "!!str":
		d.report(n, path, "%q is not a duration; write 15m, 24h or 1h30m", n.Value)
	case t < 0:
		d.report(n, path, "a duration is not negative")
	case t > 0 && t < time.Second:
		d.report(n, path, "%s is shorter than a second", t)
	case t < least:
		d.report(n, path, "%s is shorter than %s", t, least)
	}
	v.SetInt(int64(t))
}

// text reads a string. Unless the decoder is loose, it rejects unquoted numbers and
// truths: other readers would take 2.10 for 2.1.
func (d *Decoder) text(n *yaml.Node, v reflect.Value, f Field, path string) {
	tag := n.ShortTag()
	if !d.Cells && !d.Loose && tag != "!!str" && !(d.Trim && tag == "!!timestamp") {
		d.report(n, path, "%s is not text; write it in quotes", n.Value)
		return
	}
	text := n.Value
	if d.Trim {
		text = strings.TrimSpace(text)
	}
	v.SetString(text)
	form := formats[f.Format]
	if form.bare {
		text = strings.TrimRight(text, "/")
		v.SetString(text)
	}
	switch {
	case text == "" && d.Trim:
		d.report(n, path, "is empty; leave it out if there is none")
	case text == "":
	case f.Enum != nil:
		i := slices.IndexFunc(f.Enum, func(e string) bool { return strings.EqualFold(e, text) })
		if i < 0 {
			d.report(n, path, "%s", nearest.Unknown("value", text, f.Enum))
			return
		}
		v.SetString(f.Enum[i])
	case form.ok == nil || form.ok(text):
	case form.hidden:
		d.report(n, path, "is not a %s", form.want)
	default:
		d.report(n, path, "%q is not a %s", text, form.want)
	}
}
