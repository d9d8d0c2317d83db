package op

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/text/nearest"
)

// MaxTokens is the maximum of a tool's answer, as Tokens counts: clients refuse
// longer ones, or cut them anywhere.
const MaxTokens = 25_000

// Tokens estimates how many tokens a model reads a text as: one for each Han,
// kana or Hangul character and one for four others.
func Tokens(text string) int {
	n := 0
	for _, r := range text {
		n += quarters(r)
	}
	return (n + 3) / 4
}

// quarters is what one character takes, in quarters of a token.
func quarters(r rune) int {
	if r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
		return 4
	}
	return 1
}

// quoted is what one character of a JSON string takes, in quarters of a token.
func quoted(r rune) int {
	switch {
	case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
		return 2
	case r < ' ' || r == '\u2028' || r == '\u2029' || r == utf8.RuneError:
		return len(`\u2028`)
	}
	return quarters(r)
}

// Within returns the length of the longest beginning of a text that takes at
// most so many tokens as a JSON string.
func Within(text string, tokens int) int {
	left := 4 * tokens
	for i, r := range text {
		if left -= quoted(r); left < 0 {
			return i
		}
	}
	return len(text)
}

// Without returns the length of the longest beginning of a text that takes so
// many tokens less than all of it.
func Without(text string, tokens int) int {
	end := len(text)
	for left := 4 * tokens; left > 0 && end > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:end])
		left -= quoted(r)
		end -= size
	}
	return end
}

// Shortener is an answer, or a part embedded in one, that can be continued from where
// it ends. Shorten removes from its end what takes at least so many tokens, as long as
// something is left, and says in the answer where the rest begins. It is called on a
// copy, whose slices are those of the answer.
type Shortener interface{ Shorten(tokens int) }

// rounds bounds how often an answer is encoded again: what was left out is
// estimated.
const rounds = 20

// Fit writes the answer of a tool with at most MaxTokens. A longer answer is cut: at
// the end of a Shortener, from where it can be continued, or else in the longest lists
// and texts. The note says what was left out of those and how to get it; it is in the
// answer's hint if that has one.
func (o Operation) Fit(in Input, answer any) (raw []byte, note string, err error) {
	raw, err = in.shape.write(answer, o.ToolOut)
	over := beyond(raw, "")
	if err != nil || over <= 0 {
		return raw, "", err
	}
	v := reflect.New(reflect.TypeOf(answer)).Elem()
	v.Set(reflect.ValueOf(answer))
	deepen(v)
	if s, ok := shortenerOf(v); ok {
		for range rounds {
			before := over
			s.Shorten(over)
			if raw, err = in.shape.write(v.Interface(), o.ToolOut); err != nil {
				return nil, "", err
			}
			if over = beyond(raw, ""); over <= 0 {
				return raw, "", nil
			}
			if over >= before {
				break
			}
		}
	}
	cut := cuts{left: map[string]int{}, of: map[string]int{}}
	for range rounds {
		cut.trim(v, over)
		note = o.note(in, cut)
		hint := hintOf(v)
		if hint.IsValid() {
			hint.SetString(note)
		}
		if raw, err = in.shape.write(v.Interface(), o.ToolOut); err != nil {
			return nil, "", err
		}
		if hint.IsValid() {
			note = ""
		}
		if over = beyond(raw, note); over <= 0 {
			break
		}
	}
	return raw, note, nil
}

// beyond is by how many tokens an answer with a note is too long.
func beyond(raw []byte, note string) int {
	if len(raw)+len(note) <= MaxTokens { // no character is more than a token
		return 0
	}
	return Tokens(string(raw)+note) - MaxTokens
}

func shortenerOf(v reflect.Value) (Shortener, bool) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !v.IsValid() || !v.CanAddr() {
		return nil, false
	}
	s, ok := v.Addr().Interface().(Shortener)
	return s, ok
}

// hintOf returns the field of an answer that says what to do.
func hintOf(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		if f := v.FieldByName("Hint"); f.IsValid() && f.CanSet() && f.Kind() == reflect.String {
			return f
		}
	}
	return reflect.Value{}
}

// deepen makes the slices and pointers of a settable value its own.
func deepen(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.CanSet() {
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(v.Elem())
			v.Set(c)
			deepen(c.Elem())
		}
	case reflect.Slice:
		if v.Len() > 0 && v.CanSet() {
			c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(c, v)
			v.Set(c)
			for i := range c.Len() {
				deepen(c.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			deepen(v.Field(i))
		}
	}
}

// cuts are what was left out of an answer, by the names of its fields.
type cuts struct {
	order []string
	left  map[string]int // items left out of a list; 0: the end of a text
	of    map[string]int // items that there were
}

// part is a list, text or object of an answer.
type part struct {
	v     reflect.Value
	name  string
	size  int   // tokens, without the lists in it
	items []int // tokens of each item
	in    *part // the list that it is in, and which item
	item  int
}

// live reports whether the part is still in the answer.
func (p *part) live() bool { return p.in == nil || p.item < p.in.v.Len() && p.in.live() }

// trim leaves out what takes about so many tokens: the last items of the longest
// list, until that is another one; if all have one item, the end of the longest
// text or object.
func (c *cuts) trim(v reflect.Value, tokens int) {
	var all []*part
	partsOf(v, "", nil, 0, &all)
	for tokens > 0 {
		longest := longestOf(all, func(p *part) bool { return p.v.Kind() == reflect.Slice && p.v.Len() > 1 && p.live() })
		if longest == nil {
			break
		}
		n := longest.v.Len() - 1
		c.note(longest.name, 1, n+1)
		longest.v.Set(longest.v.Slice3(0, n, n))
		longest.size -= longest.items[n]
		tokens -= longest.items[n]
	}
	if tokens <= 0 {
		return
	}
	longest := longestOf(all, func(p *part) bool { return p.v.Kind() != reflect.Slice && p.live() })
	if longest == nil {
		return
	}
	c.note(longest.name, 0, 0)
	if longest.v.Kind() == reflect.Map {
		longest.v.SetZero()
		return
	}
	text := longest.v.String()
	longest.v.SetString(text[:Without(text, tokens+1)] + "…")
}

func (c *cuts) note(name string, items, of int) {
	if _, known := c.left[name]; !known {
		c.order = append(c.order, name)
		c.of[name] = of
	}
	c.left[name] += items
}

func longestOf(all []*part, wanted func(*part) bool) (longest *part) {
	for _, p := range all {
		if wanted(p) && (longest == nil || p.size > longest.size) {
			longest = p
		}
	}
	return longest
}

// partsOf collects the parts of a value and returns what its lists take.
func partsOf(v reflect.Value, name string, in *part, item int, all *[]*part) (lists int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return partsOf(v.Elem(), name, in, item, all)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			switch own := jsonName(f); {
			case own != "":
				lists += partsOf(v.Field(i), strings.TrimPrefix(name+"."+own, "."), in, item, all)
			case f.Anonymous:
				lists += partsOf(v.Field(i), name, in, item, all)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 || !v.CanSet() || v.Type().Elem().Kind() == reflect.Uint8 {
			return 0
		}
		p := &part{v: v, name: name, in: in, item: item}
		for i := range v.Len() {
			size, inside := tokensOf(v.Index(i)), partsOf(v.Index(i), name, p, i, all)
			p.items = append(p.items, max(1, size))
			p.size += max(0, size-inside)
			lists += size
		}
		*all = append(*all, p)
	case reflect.String, reflect.Map:
		if v.Len() > 0 && v.CanSet() {
			*all = append(*all, &part{v: v, name: name, size: tokensOf(v), in: in, item: item})
		}
	}
	return lists
}

func tokensOf(v reflect.Value) int {
	raw, err := EncodeTool(v.Interface())
	if err != nil { // the whole answer says why
		return 0
	}
	return Tokens(string(raw))
}

// note says what was left out of an answer and how to get it.
func (o Operation) note(in Input, c cuts) string {
	var parts []string
	for _, name := range c.order {
		if c.left[name] > 0 {
			parts = append(parts, fmt.Sprintf("%d of %s", c.left[name], name))
		} else {
			parts = append(parts, "the end of "+name)
		}
	}
	said := fmt.Sprintf("An answer has at most %d tokens; left out: %s.", MaxTokens, strings.Join(parts, ", "))
	has := func(name string) *Param {
		i := slices.IndexFunc(o.Params, func(p Param) bool { return p.ToolName == name })
		if i < 0 {
			return nil
		}
		return &o.Params[i]
	}
	switch offset, items := has("offset"), c.left["items"]; {
	case offset != nil && items > 0:
		next := int(in.v.FieldByIndex(offset.index).Int()) + c.of["items"] - items
		said += fmt.Sprintf(" Go on with offset %d.", next)
	case has("limit") != nil:
		said += " Ask for fewer with limit, or for less with the other arguments."
	}
	if target, body := o.Target(in); o.Path != "" && body == nil {
		said += " All of it: GET " + cmp.Or(target, o.Path)
	}
	return said
}

// rowsName is the property of an answer that holds the rows of a list.
const rowsName = "items"

// shape is what a call wants of the rows of a list; zero: all of them, whole.
type shape struct {
	fields []string // of a row
	limit  int      // how many rows; 0: all
}

// The arguments of a shape.
var (
	fieldsArgument = &argument{name: "fields", typ: reflect.TypeFor[string](), list: true, maxItems: new(50),
		schema: &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "string"}}}
	limitArgument = &argument{name: "limit", typ: reflect.TypeFor[int](), form: formInteger, min: new(1.0), max: new(100.0),
		schema: &jsonschema.Schema{Type: "integer", Minimum: new(1.0), Maximum: new(100.0)}}
)

// addShape adds the arguments of a shape to a tool that answers with rows: fields, and limit if nothing else bounds a
// list. A thread goes on where it ends.
func (o *Operation) addShape() {
	if o.Tool == "" || len(rowFields(o.ToolOut)) == 0 {
		return
	}
	add := func(a *argument, published *jsonschema.Schema) {
		if !slices.Contains(o.arguments(), a.name) {
			addProperty(o.ToolIn, a.name, published, false)
			o.shapes = append(o.shapes, a)
		}
	}
	// Every model reads this of 50 tools: names with commas are said shorter than a list, which is read as well.
	add(fieldsArgument, &jsonschema.Schema{Type: "string"})
	if o.ToolOut.Properties[rowsName] != nil && !slices.Contains(o.arguments(), "cursor") {
		add(limitArgument, limitArgument.schema)
	}
}

// arguments returns the names of all that a tool takes.
func (o Operation) arguments() (names []string) {
	for _, p := range o.Params {
		if p.tool != nil {
			names = append(names, p.ToolName)
		}
	}
	for _, a := range o.shapes {
		names = append(names, a.name)
	}
	return names
}

// takeShape removes the arguments of a shape from the members of a call.
func (o Operation) takeShape(members map[string]json.RawMessage) (s shape, err error) {
	take := func(a *argument) (v reflect.Value, err error) {
		raw, given := members[a.name]
		if !given || !slices.Contains(o.shapes, a) {
			return v, nil
		}
		delete(members, a.name)
		if raw = a.meant(raw); raw == nil {
			return v, nil
		}
		return a.fromJSON(raw)
	}
	v, err := take(fieldsArgument)
	if err != nil {
		return s, err
	}
	if v.IsValid() {
		s.fields = v.Interface().([]string)
	}
	known := rowFields(o.ToolOut)
	for _, name := range s.fields {
		if slices.Contains(known, name) {
			continue
		}
		if near := nearest.Of(name, known); near != "" {
			return s, Invalid("fields: there is no field %s: did you mean %q?", Quote(name), near)
		}
		return s, Invalid("fields: there is no field %s: there are %s", Quote(name), strings.Join(known, ", "))
	}
	if v, err = take(limitArgument); v.IsValid() {
		s.limit = int(v.Int())
	}
	return s, err
}

// rowFields returns the fields of the rows that are anywhere in an answer.
func rowFields(s *jsonschema.Schema) (names []string) {
	if s == nil {
		return nil
	}
	for _, name := range s.PropertyOrder {
		p := s.Properties[name]
		below := rowFields(p)
		if p.Items != nil {
			below = rowFields(p.Items)
			if name == rowsName {
				below = p.Items.PropertyOrder
			}
		}
		for _, field := range below {
			if !slices.Contains(names, field) {
				names = append(names, field)
			}
		}
	}
	return names
}

// write is EncodeTool of what the shape leaves.
func (s shape) write(answer any, schema *jsonschema.Schema) ([]byte, error) {
	raw, err := EncodeTool(answer)
	if err != nil || s.limit == 0 && len(s.fields) == 0 {
		return raw, err
	}
	return s.of(raw, schema), nil
}

// of leaves the rows in a value and their fields, in the order of the schema.
func (s shape) of(raw json.RawMessage, schema *jsonschema.Schema) json.RawMessage {
	if schema == nil {
		return raw
	}
	if list := []json.RawMessage(nil); schema.Items != nil && json.Unmarshal(raw, &list) == nil && list != nil {
		for i, item := range list {
			list[i] = s.of(item, schema.Items)
		}
		return join('[', list, ']')
	}
	var members map[string]json.RawMessage
	if len(rowFields(schema)) == 0 || json.Unmarshal(raw, &members) != nil || members == nil {
		return raw
	}
	var parts []json.RawMessage
	for _, name := range schema.PropertyOrder {
		value, ok := members[name]
		if !ok {
			continue
		}
		if p := schema.Properties[name]; name == rowsName && p.Items != nil && len(p.Items.PropertyOrder) > 0 {
			value = s.rows(value, p.Items)
		} else {
			value = s.of(value, p)
		}
		parts = append(parts, member(name, value))
	}
	return join('{', parts, '}')
}

func (s shape) rows(raw json.RawMessage, schema *jsonschema.Schema) json.RawMessage {
	var rows []json.RawMessage
	if json.Unmarshal(raw, &rows) != nil {
		return raw
	}
	if s.limit > 0 && len(rows) > s.limit {
		rows = rows[:s.limit]
	}
	for i, row := range rows {
		var fields map[string]json.RawMessage
		if len(s.fields) == 0 || json.Unmarshal(row, &fields) != nil {
			continue
		}
		var parts []json.RawMessage
		for _, name := range schema.PropertyOrder {
			if value, ok := fields[name]; ok && slices.Contains(s.fields, name) {
				parts = append(parts, member(name, value))
			}
		}
		rows[i] = join('{', parts, '}')
	}
	return join('[', rows, ']')
}

func member(name string, value json.RawMessage) json.RawMessage {
	return slices.Concat(quote(name), []byte(":"), value)
}

func join(open byte, parts []json.RawMessage, end byte) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte(open)
	for i, p := range parts {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(p)
	}
	b.WriteByte(end)
	return b.Bytes()
}
