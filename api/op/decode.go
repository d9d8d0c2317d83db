package op

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"almanac/text/nearest"
)

// Decode reads the arguments of a REST call: the parameters of path and query,
// and for POST the members of the JSON object in body. Unknown parameters and
// members are ignored, unless they are near a known one that is not given: then
// they are misspelt. Every error is ErrInvalid with a sentence that names the
// parameter and the values allowed.
func (o Operation) Decode(path map[string]string, query url.Values, body []byte) (in Input, err error) {
	var members map[string]json.RawMessage
	if o.Method == "POST" || len(body) > 0 {
		if members, err = decodeObject(body); err != nil {
			return in, Invalid("the body must be one JSON object: %v", err)
		}
	}
	if err := o.checkSpelling(query, members); err != nil {
		return in, err
	}
	return o.fill(func(p *Param) (a *argument, v reflect.Value, err error) {
		if !p.REST {
			return nil, v, nil
		}
		v, err = p.rest.decodeREST(p.Path, path, query, members)
		return p.rest, v, err
	})
}

// DecodeTool reads the arguments of a tool call, a JSON object or nothing, as they are
// meant: under another name, in another type. Null counts as absent; an unknown
// argument is an error that names the nearest known one.
func (o Operation) DecodeTool(args json.RawMessage) (in Input, err error) {
	var members map[string]json.RawMessage
	if args = bytes.TrimSpace(args); len(args) > 0 && string(args) != "null" {
		if members, err = decodeObject(args); err != nil {
			return in, Invalid("arguments must be one JSON object: %v", err)
		}
	}
	if err := o.rename(members); err != nil {
		return in, err
	}
	shape, err := o.takeShape(members)
	if err != nil {
		return in, err
	}
	if err := o.checkKnown(members); err != nil {
		return in, err
	}
	in, err = o.fill(func(p *Param) (a *argument, v reflect.Value, err error) {
		if p.tool == nil {
			return nil, v, nil
		}
		if raw := members[p.ToolName]; raw != nil {
			members[p.ToolName] = p.tool.meant(raw)
		}
		v, err = p.tool.decodeMember(members)
		return p.tool, v, err
	})
	in.shape = shape
	return in, err
}

// fill makes the input of what is read of each parameter: no value leaves its field
// zero.
func (o Operation) fill(read func(*Param) (*argument, reflect.Value, error)) (Input, error) {
	in := o.newInput()
	for i := range o.Params {
		p := &o.Params[i]
		a, v, err := read(p)
		if err != nil {
			return in, err
		}
		if v.IsValid() {
			a.store(in.v.FieldByIndex(p.index), v)
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
	if !ok || len(raw) == 0 || string(raw) == "null" {
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

// Command is what the command line calls an operation: its tool, or its id if it is not a tool.
func (o Operation) Command() string { return cmp.Or(o.Tool, o.ID) }

// Commands are what the command line calls operations.
func Commands(ops []Operation) (names []string) {
	for _, o := range ops {
		names = append(names, o.Command())
	}
	return names
}

// Called returns the operation that the command line calls so. The error names the nearest.
func Called(ops []Operation, command string) (Operation, error) {
	if i := slices.Index(Commands(ops), command); i >= 0 {
		return ops[i], nil
	}
	if near := nearest.Of(command, Commands(ops)); near != "" {
		return Operation{}, Invalid("unknown tool %q: did you mean %q?", command, near)
	}
	return Operation{}, Invalid("unknown tool %q: list names them", command)
}

// Call runs the operation that the command line calls so, with its arguments.
func Call(ctx context.Context, ops []Operation, command string, words []string) (any, error) {
	o, err := Called(ops, command)
	if err != nil {
		return nil, err
	}
	in, err := o.DecodeLine(words)
	if err != nil {
		return nil, err
	}
	return o.Run(Strict(ctx), in)
}

// DecodeLine reads the arguments of a command line, each name=value, --name=value, --name
// value or, if it is true, --name. The names are those of the tool, or of REST if the
// operation is not a tool, and what stands for them.
func (o Operation) DecodeLine(words []string) (in Input, err error) {
	values := map[string]string{}
	for len(words) > 0 {
		name, value, rest, err := o.cutArgument(words)
		if err != nil {
			return in, err
		}
		if _, twice := values[name]; twice {
			return in, Invalid("%s must be given once", name)
		}
		values[name], words = value, rest
	}
	if err := renamed(o, values, o.lineNames(), func(value string) bool { return value != "" }); err != nil {
		return in, err
	}
	return o.decodeNamed(values, (*Param).named)
}

// cutArgument reads the first argument of a command line.
func (o Operation) cutArgument(words []string) (name, value string, rest []string, err error) {
	rest = words[1:]
	word, flag := strings.CutPrefix(words[0], "--")
	name, value, given := strings.Cut(word, "=")
	if flag {
		name = strings.ReplaceAll(name, "-", "_")
	}
	switch {
	case given:
	case !flag:
		return name, value, rest, Invalid("%q: an argument is written name=value or --name value", words[0])
	case o.isSwitch(name):
		value = "true"
	case len(rest) == 0:
		return name, value, rest, Invalid("%s has no value: write --%s=VALUE", words[0], word)
	default:
		value, rest = rest[0], rest[1:]
	}
	return name, value, rest, nil
}

// isSwitch reports whether an argument of the command line is true or false.
func (o Operation) isSwitch(name string) bool {
	a, err := o.argumentOf(o.standsFor(name, o.lineNames()), (*Param).named)
	return err == nil && a.form == formBoolean && !a.list
}

// lineNames are the names of the arguments on the command line.
func (o Operation) lineNames() (names []string) {
	for i := range o.Params {
		if a, name := o.Params[i].named(); a != nil {
			names = append(names, name)
		}
	}
	return names
}

// DecodeNamed reads arguments by their names on REST, or by those of the tool if
// REST does not serve the operation.
func (o Operation) DecodeNamed(values map[string]string) (Input, error) {
	return o.decodeNamed(values, o.named)
}

func (o Operation) decodeNamed(
	values map[string]string, named func(*Param) (*argument, string),
) (in Input, err error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, err := o.argumentOf(name, named); err != nil {
			return in, err
		}
	}
	return o.fill(func(p *Param) (a *argument, v reflect.Value, err error) {
		a, name := named(p)
		if raw, ok := values[name]; ok && a != nil {
			v, err = a.fromLine(raw)
		} else if a != nil {
			v, err = a.absent()
		}
		return a, v, err
	})
}

// NamedParams returns the parameters of DecodeNamed, LineParams those of DecodeLine, as it names them.
func (o Operation) NamedParams() []Param { return o.paramsBy(o.named) }

// LineParams are documented at NamedParams.
func (o Operation) LineParams() []Param { return o.paramsBy((*Param).named) }

func (o Operation) paramsBy(named func(*Param) (*argument, string)) (all []Param) {
	for _, p := range o.Params {
		if a, name := named(&p); a != nil {
			p.Name, p.Required, p.Schema, p.Default = name, a.required, a.schema, a.schema.Default
			all = append(all, p)
		}
	}
	return all
}

// Argument returns what checks a value of an argument of DecodeNamed. Its error says
// which arguments there are.
func (o Operation) Argument(name string) (check func(value string) error, err error) {
	a, err := o.argumentOf(name, o.named)
	return func(value string) error { _, err := a.fromLine(value); return err }, err
}

func (o Operation) argumentOf(name string, named func(*Param) (*argument, string)) (*argument, error) {
	var names []string
	for i := range o.Params {
		a, known := named(&o.Params[i])
		if a != nil && known == name {
			return a, nil
		}
		if a != nil {
			names = append(names, known)
		}
	}
	return nil, unknownArgument([]string{name}, names, o.Command())
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

// Place is where a part of a thread begins: at an item, or at an offset in the text
// of one. As a cursor 12 is the beginning of an item, 12~500 a place in its text, and
// ~500 one in the thread's own, which comes before the first item.
type Place struct {
	Item   int // OwnText for the thread's own
	Offset int // in bytes
}

// OwnText is the item of a thread's own text.
const OwnText = -1

// String returns the cursor; "" for the beginning.
func (p Place) String() string {
	var s string
	if p.Item != OwnText {
		s = strconv.Itoa(p.Item)
	}
	if p.Offset > 0 {
		s += "~" + strconv.Itoa(p.Offset)
	}
	return s
}

// ParsePlace reads a cursor; false if String writes no such.
func ParsePlace(cursor string) (p Place, ok bool) {
	item, offset, within := strings.Cut(cursor, "~")
	p.Item = OwnText
	var err error
	if item != "" {
		p.Item, err = strconv.Atoi(item)
	}
	if within && err == nil {
		p.Offset, err = strconv.Atoi(offset)
	}
	return p, err == nil && p.Item >= OwnText && p.String() == cursor
}

// RequestHeader carries the id of a request: in the answer, and from a trusted
// proxy in the request.
const RequestHeader = "X-Request-Id"

type requestKey struct{}

// WithRequest names the request that a context belongs to.
func WithRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// RequestOf returns the id of the request, "" = none.
func RequestOf(ctx context.Context) string {
	id, _ := ctx.Value(requestKey{}).(string)
	return id
}

// NewRequest makes an id.
func NewRequest() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// ValidRequest reports whether the id of another may be kept: letters, digits, -
// and _, at most 64.
func ValidRequest(id string) bool {
	for _, c := range id {
		ok := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
		if !ok {
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// Internal is the message of an error that is logged and not shown.
func Internal(ctx context.Context) string {
	if id := RequestOf(ctx); id != "" {
		return "internal error; the operator's log has the reason under request " + id
	}
	return "internal error"
}

type strictKey struct{}

// Strict is the context of a call whose caller corrects it and calls again when it is refused: an agent, or a person
// at the command line. Over REST the answer has a hint in its place.
func Strict(ctx context.Context) context.Context { return context.WithValue(ctx, strictKey{}, true) }

// IsStrict reports whether ctx is that of such a call.
func IsStrict(ctx context.Context) bool { return ctx.Value(strictKey{}) != nil }

// vocabulary has rows of names that say the same of a tool's argument: models that know
// one tool call the next with its words. A name may be in several rows.
var vocabulary = [][]string{
	{"query", "q", "topic", "question", "feature", "description", "goal", "pattern", "idea", "concept", "draft_text",
		"error_text", "text", "search", "keywords"},
	{"id", "cip_id", "cip_number", "cip", "proposal", "number", "pr_number", "tracking_cid", "app_id", "slug",
		"record_id", "doc_id", "thread_id", "video_id", "discussion_id", "read"},
	{"name", "id", "query", "q", "slug", "title", "project", "package", "api", "asset", "sv_name", "validator"},
	{"limit", "max_results", "top_k", "limit_per_source"},
	{"days", "window_days"},
	{"repo", "repository"},
}

// rename gives the members of a tool call the names of its arguments.
func (o Operation) rename(members map[string]json.RawMessage) error {
	given := func(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }
	return renamed(o, members, o.arguments(), given)
}

// renamed gives values the names of the arguments that they stand for; those that stand
// for none keep theirs.
func renamed[V any](o Operation, values map[string]V, known []string, given func(V) bool) error {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		argument := o.standsFor(name, known)
		if argument == name || argument == "" {
			continue
		}
		if given(values[argument]) {
			return Invalid("%s is another name of %s, which is given: leave one out", name, argument)
		}
		values[argument] = values[name]
		delete(values, name)
	}
	return nil
}

// standsFor returns which of the known arguments a name stands for: itself, what is called
// so on REST, or what it is in the vocabulary; "": none.
func (o Operation) standsFor(name string, known []string) string {
	if slices.Contains(known, name) {
		return name
	}
	for _, p := range o.Params {
		if p.REST && p.Name == name && slices.Contains(known, p.ToolName) {
			return p.ToolName
		}
	}
	return StandsFor(name, known)
}

// StandsFor returns which of the known arguments a name stands for in the vocabulary: the
// only one of a row; "": none.
func StandsFor(name string, known []string) string {
	for _, row := range vocabulary {
		if !slices.Contains(row, name) {
			continue
		}
		var of []string
		for _, argument := range known {
			if slices.Contains(row, argument) {
				of = append(of, argument)
			}
		}
		if len(of) == 1 {
			return of[0]
		}
	}
	return ""
}

// meant returns the value that a model means by another one: numbers in quotes and
// strings without, one value for a list, JSON in a string, and nil for an optional
// argument that is null or empty. What cannot be meant is returned as it is, and fails.
func (a *argument) meant(raw json.RawMessage) json.RawMessage {
	text, quoted := unquote(raw)
	switch {
	case string(raw) == "null", quoted && text == "" && !a.required:
		return nil
	case a.list:
		return a.meantList(raw, text, quoted)
	}
	return a.meantValue(raw, text, quoted)
}

// meantList also drops items that are null or empty.
func (a *argument) meantList(raw json.RawMessage, text string, quoted bool) json.RawMessage {
	var items []json.RawMessage
	switch isList := json.Unmarshal(raw, &items) == nil; {
	case isList, quoted && json.Unmarshal([]byte(text), &items) == nil:
	case quoted && text != "":
		for item := range strings.SplitSeq(text, ",") {
			items = append(items, quote(strings.TrimSpace(item)))
		}
	case !quoted:
		items = []json.RawMessage{raw}
	}
	meant := []json.RawMessage{}
	for _, item := range items {
		text, quoted := unquote(item)
		if string(item) != "null" && (!quoted || text != "") {
			meant = append(meant, a.meantValue(item, text, quoted))
		}
	}
	if len(meant) == 0 && !a.required {
		return nil
	}
	list, err := json.Marshal(meant)
	if err != nil {
		return raw
	}
	return list
}

func (a *argument) meantValue(raw json.RawMessage, text string, quoted bool) json.RawMessage {
	switch a.form {
	case formInteger, formFloat, formObject:
		if quoted && text != "" && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	case formBoolean:
		if !quoted {
			text = string(raw)
		}
		switch strings.ToLower(text) {
		case "true", "1":
			return json.RawMessage("true")
		case "false", "0":
			return json.RawMessage("false")
		}
	case formText:
		if !quoted && isDecimal(raw) {
			return quote(string(raw))
		}
	}
	return raw
}

// isDecimal reports whether a value is a number without an exponent, such as the
// version 3.2.
func isDecimal(raw []byte) bool {
	whole, fraction, _ := bytes.Cut(raw, []byte("."))
	return isInteger(whole) && len(bytes.Trim(fraction, "0123456789")) == 0
}

// unquote returns the text of a JSON string without the blanks around it.
func unquote(raw json.RawMessage) (text string, ok bool) {
	ok = len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil
	return strings.TrimSpace(text), ok
}

func quote(text string) json.RawMessage {
	raw, err := json.Marshal(text)
	if err != nil { // a string always encodes
		return nil
	}
	return raw
}
