package op

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/text/dates"
)

// form is what a value looks like on the wire.
type form int

const (
	formText form = iota
	formInteger
	formFloat
	formBoolean
	formTime   // ISO 8601
	formObject // JSON only
)

// argument decodes and validates one field for one interface. It is compiled
// once, so that requests do not inspect types or tags.
type argument struct {
	name     string
	schema   *jsonschema.Schema
	required bool

	typ     reflect.Type // of a value, or of one in the list; no pointer
	pointer bool
	list    bool
	form    form

	min, max            *float64
	maxLength, maxItems *int
	enum                []string // as published
	open                bool     // others are the operation's to refuse
	pattern             *regexp.Regexp
	like                string // description of pattern
	date                bool
	def                 reflect.Value // of the field's type; invalid = none
}

// argument compiles a field. Tags with the prefix replace those without.
func (o *Operation) argument(f reflect.StructField, name, prefix string) *argument {
	a := &argument{name: name, typ: f.Type}
	said := o.tagsOf(f, prefix)
	if required, _ := said.lookup("required"); required == "true" {
		a.required = true
	}
	a.like, _ = said.lookup("like")
	open, _ := said.lookup("open")
	a.open = open == "true"
	if a.typ.Kind() == reflect.Pointer {
		a.pointer, a.typ = true, a.typ.Elem()
	}
	if known[a.typ] == nil && a.typ.Kind() == reflect.Slice {
		a.list, a.typ = true, a.typ.Elem()
	}
	var ok bool
	if a.form, ok = formOf(a.typ); !ok {
		o.fail("%s.%s: %s is not a type of argument", o.in, f.Name, f.Type)
	}
	a.schema = a.baseSchema()
	if err := constrain(a.schema, said); err != nil {
		o.fail("%s.%s: %v", o.in, f.Name, err)
	}
	if err := a.compile(); err != nil {
		o.fail("%s.%s: %v", o.in, f.Name, err)
	}
	return a
}

var timeType = reflect.TypeFor[time.Time]()

// datePattern is published for times. With format date typed clients could not
// send a time of day, with date-time not a day.
const datePattern = `^\d{4}-\d{2}-\d{2}`

func formOf(t reflect.Type) (form, bool) {
	switch {
	case t.Kind() == reflect.Struct && t.ConvertibleTo(timeType):
		return formTime, true
	case t == reflect.TypeFor[json.RawMessage](), t == reflect.TypeFor[map[string]any]():
		return formObject, true
	}
	switch t.Kind() {
	case reflect.String:
		return formText, true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return formInteger, true
	case reflect.Float32, reflect.Float64:
		return formFloat, true
	case reflect.Bool:
		return formBoolean, true
	}
	return 0, false
}

func (a *argument) baseSchema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: [...]string{"string", "integer", "number", "boolean", "string", "object"}[a.form]}
	if a.form == formTime {
		s.Pattern = datePattern
	}
	if a.list {
		return &jsonschema.Schema{Type: "array", Items: s}
	}
	return s
}

// compile takes the constraints from the schema and validates the default with
// them, so that a default out of range fails at start.
func (a *argument) compile() (err error) {
	item := a.item()
	if a.list {
		a.maxItems = a.schema.MaxItems
		if a.required {
			a.schema.MinItems = new(1)
		}
	}
	a.min, a.max, a.maxLength = item.Minimum, item.Maximum, item.MaxLength
	a.date = item.Format == "date" || item.Format == "date-time"
	for _, e := range item.Enum {
		a.enum = append(a.enum, e.(string))
	}
	if item.Pattern != "" && a.form != formTime {
		if a.pattern, err = regexp.Compile(item.Pattern); err != nil {
			return err
		}
		if !portable(item.Pattern) || !takesText(item) {
			item.Pattern = ""
		}
	}
	if a.required && takesText(item) && a.form == formText && !a.list && a.enum == nil && a.pattern == nil {
		item.MinLength = new(1)
	}
	if a.schema.Default != nil {
		a.def, err = a.fromJSON(a.schema.Default)
	}
	return err
}

// takesText reports whether values may be strings by their schema.
func takesText(s *jsonschema.Schema) bool {
	return s.Type == "string" || slices.Contains(s.Types, "string")
}

// item is the schema of the value, or of one in the list.
func (a *argument) item() *jsonschema.Schema {
	if a.list {
		return a.schema.Items
	}
	return a.schema
}

// store sets a field of In, as a pointer if the field is one.
func (a *argument) store(dst, v reflect.Value) {
	if a.pointer {
		p := reflect.New(dst.Type().Elem())
		p.Elem().Set(v)
		v = p
	}
	dst.Set(v)
}

// fromText decodes a value of a query or path.
func (a *argument) fromText(raw string) (v reflect.Value, err error) {
	if !a.list {
		return a.scalar(raw)
	}
	items := strings.Split(raw, ",")
	if err := a.checkCount(len(items)); err != nil {
		return v, err
	}
	list := reflect.MakeSlice(reflect.SliceOf(a.typ), len(items), len(items))
	for i, item := range items {
		if v, err = a.scalar(strings.TrimSpace(item)); err != nil {
			return v, err
		}
		list.Index(i).Set(v)
	}
	return list, nil
}

// scalar decodes one value written as text.
func (a *argument) scalar(raw string) (reflect.Value, error) {
	switch a.form {
	case formInteger:
		n, err := strconv.ParseInt(raw, 10, a.typ.Bits())
		if err != nil || raw[0] == '+' {
			return reflect.Value{}, a.wrongNumber(err)
		}
		return a.number(float64(n), func(v reflect.Value) { v.SetInt(n) })
	case formFloat:
		n, err := strconv.ParseFloat(raw, a.typ.Bits())
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return reflect.Value{}, a.wrongNumber(err)
		}
		return a.number(n, func(v reflect.Value) { v.SetFloat(n) })
	case formBoolean:
		switch strings.ToLower(raw) {
		case "1", "true":
			return a.value(true), nil
		case "0", "false":
			return a.value(false), nil
		}
		return reflect.Value{}, a.invalid("must be one of 0, 1, true, false")
	case formObject:
		return reflect.Value{}, a.invalid("must be a JSON object")
	}
	return a.text(raw)
}

// text validates a string, and parses it if the field is a time.
func (a *argument) text(s string) (reflect.Value, error) {
	switch {
	case !utf8.ValidString(s) || strings.IndexByte(s, 0) >= 0:
		return reflect.Value{}, a.invalid("must be valid UTF-8 text without NUL")
	case (a.required || a.list) && strings.TrimSpace(s) == "":
		return reflect.Value{}, a.invalid("must not be empty")
	case a.maxLength != nil && utf8.RuneCountInString(s) > *a.maxLength:
		return reflect.Value{}, a.invalid("must be at most %d characters long", *a.maxLength)
	}
	if a.enum != nil {
		i := slices.IndexFunc(a.enum, func(e string) bool { return strings.EqualFold(e, s) })
		if i < 0 && !a.open {
			return reflect.Value{}, a.invalid("must be one of %s", strings.Join(a.enum, ", "))
		}
		if i >= 0 {
			s = a.enum[i]
		}
	}
	if a.pattern != nil && !a.pattern.MatchString(s) {
		return reflect.Value{}, a.wrongForm(s)
	}
	if a.date || a.form == formTime {
		t, shape := dates.Parse(s, dates.Day|dates.Instant)
		if shape == 0 {
			return reflect.Value{}, a.invalid("must be an ISO 8601 date such as 2026-01-31 or 2026-01-31T12:00:00Z")
		}
		if a.form == formTime {
			return a.value(t), nil
		}
	}
	return a.value(s), nil
}

// wrongForm says what a value must look like; in a list it names the value.
func (a *argument) wrongForm(s string) error {
	if a.list {
		form := cmp.Or(a.like, a.schema.Description, a.pattern.String())
		return Invalid("%s: %.40q is malformed; it takes %s", a.name, s, form)
	}
	switch {
	case a.like != "":
		return a.invalid("must look like %s", a.like)
	case a.schema.Description != "":
		return a.invalid("is malformed; it takes %s", a.schema.Description)
	}
	return a.invalid("must match %s", a.pattern)
}

// portable reports whether a pattern means the same in ECMA 262, which clients
// use for schemas: with Go's inline flags or group names they would refuse the
// whole list of tools. Such a pattern is checked but not published.
func portable(pattern string) bool {
	for _, goOnly := range []string{"(?i", "(?s", "(?m", "(?U", "(?-", "(?P", `\A`, `\z`, `\Q`, "[["} {
		if strings.Contains(pattern, goOnly) {
			return false
		}
	}
	return true
}

func (a *argument) value(v any) reflect.Value {
	return reflect.ValueOf(v).Convert(a.typ)
}

func (a *argument) number(n float64, set func(reflect.Value)) (reflect.Value, error) {
	if a.min != nil && n < *a.min || a.max != nil && n > *a.max {
		return reflect.Value{}, a.invalid("must be %s", a.bounds())
	}
	v := reflect.New(a.typ).Elem()
	set(v)
	return v, nil
}

// fromJSON decodes a JSON value that is not null.
func (a *argument) fromJSON(raw json.RawMessage) (v reflect.Value, err error) {
	if !a.list {
		return a.scalarJSON(raw)
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return v, Invalid("%s must be an array of %ss", a.name, a.schema.Items.Type)
	}
	if a.required && len(items) == 0 {
		return v, Invalid("%s must not be empty", a.name)
	}
	if err := a.checkCount(len(items)); err != nil {
		return v, err
	}
	list := reflect.MakeSlice(reflect.SliceOf(a.typ), len(items), len(items))
	for i, item := range items {
		if v, err = a.scalarJSON(item); err != nil {
			return v, err
		}
		list.Index(i).Set(v)
	}
	return list, nil
}

func (a *argument) scalarJSON(raw json.RawMessage) (v reflect.Value, err error) {
	switch a.form {
	case formInteger, formFloat:
		if c := raw[0]; c != '-' && (c < '0' || c > '9') {
			return v, a.wrongNumber(nil)
		}
		if a.form == formInteger {
			raw = integral(raw)
		}
		return a.scalar(string(raw))
	case formBoolean:
		if raw[0] != 't' && raw[0] != 'f' {
			return v, a.invalid("must be true or false")
		}
		return a.scalar(string(raw))
	case formObject:
		if raw[0] != '{' {
			return v, a.invalid("must be an object")
		}
		p := reflect.New(a.typ)
		if err := json.Unmarshal(raw, p.Interface()); err != nil {
			return v, a.invalid("must be an object")
		}
		return p.Elem(), nil
	}
	var s string
	switch {
	case a.form == formText && isInteger(raw): // 56 for "56": models drop the quotes of ids
		s = string(raw)
	case raw[0] != '"' || json.Unmarshal(raw, &s) != nil:
		return v, a.invalid("must be a string")
	}
	return a.text(s)
}

// integral writes 5.0 as 5: to JSON Schema both are integers. Any other number
// is returned unchanged and fails as an integer.
func integral(raw []byte) []byte {
	whole, frac, ok := bytes.Cut(raw, []byte("."))
	if ok && len(bytes.Trim(frac, "0")) == 0 {
		return whole
	}
	return raw
}

func isInteger(raw []byte) bool {
	digits := bytes.TrimPrefix(raw, []byte("-"))
	return len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0
}

func (a *argument) checkCount(n int) error {
	if a.maxItems != nil && n > *a.maxItems {
		return Invalid("%s must hold at most %d items", a.name, *a.maxItems)
	}
	return nil
}

// wrongNumber says what number is expected.
func (a *argument) wrongNumber(err error) error {
	article := map[form]string{formInteger: "an integer", formFloat: "a number"}[a.form]
	if a.min == nil && a.max == nil {
		return a.invalid("must be %s", article)
	}
	bounds := a.bounds()
	if a.min == nil || a.max == nil {
		bounds = "of " + bounds
	}
	return a.invalid("must be %s %s", article, bounds)
}

func (a *argument) bounds() string {
	n := func(f *float64) string { return strconv.FormatFloat(*f, 'f', -1, 64) }
	switch {
	case a.max == nil:
		return "at least " + n(a.min)
	case a.min == nil:
		return "at most " + n(a.max)
	}
	return "between " + n(a.min) + " and " + n(a.max)
}

// invalid says what a value, or each in the list, must be.
func (a *argument) invalid(format string, args ...any) error {
	name := a.name
	if a.list {
		name = "each of " + a.name
	}
	return Invalid(name+" "+format, args...)
}
