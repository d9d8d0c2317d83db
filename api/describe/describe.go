// Package describe says what the operations are: to programs as OpenAPI, to people on the pages of the
// reference, on the command line and as Markdown.
package describe

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/api/op"
)

// Service is what is described.
type Service struct {
	Title       string
	Description string
	PublicURL   string // the only server; "" = none is named
	Operations  []op.Operation
	Groups      []Group // of the operations, in their order
	// Exact lists types whose components of OpenAPI have exactly their name; any other
	// component is named after its package and type.
	Exact []string
}

// Group describes the operations of one Spec.Group; it is a tag of OpenAPI.
type Group struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// Section is a group of operations on a page; its title is what it is about.
type Section struct {
	Name, Title string
	Operations  []Operation
}

// Operation is an address with what one may ask there.
type Operation struct {
	ID, Method, Path string
	Title            string
	Summary          string
	Description      string
	Notes            []string // what else to know: the tool, media types
	ParamsTitle      string
	Params           []Param
	Fields           []Field // of the answer
	Example          string  // address; "" = none
	Request          string  // by curl, or on the command line if REST does not serve the operation
	Posted           string  // the same by POST; "" = it has no other method
	Try              bool    // it has a form
	NeedsScript      bool    // that a browser cannot send by itself
	Action           string  // of the form, with its {parameters}; "" = REST does not serve the operation
	Of               op.Operation
}

// Field is a part of an answer: items.*.title.
type Field struct{ Name, Kind, Doc string }

// Reference describes the operations that REST serves, by group, in the words of a page for people: parameters
// with their constraints, a request to copy, the fields of an answer.
func Reference(cfg Service) (out []Section) {
	for _, g := range cfg.Groups {
		described := Section{Name: g.Name, Title: cmp.Or(strings.TrimSuffix(g.Description, "."), g.Name)}
		for _, o := range cfg.Operations {
			if o.Path != "" && o.Group == g.Name {
				described.Operations = append(described.Operations, Page(cfg.PublicURL, o))
			}
		}
		if len(described.Operations) > 0 {
			out = append(out, described)
		}
	}
	return out
}

// address is where the server is.
type address struct{ public, prefix string }

// Page describes an operation of the server at a public URL, as REST serves it or as a tool.
func Page(publicURL string, o op.Operation) Operation {
	at := address{public: publicURL}
	if u, err := url.Parse(publicURL); err == nil {
		at.prefix = u.Path
	}
	out := Operation{
		ID: o.ID, Method: o.Method, Path: strings.ReplaceAll(o.Path, "...}", "}"), Summary: o.Summary,
		Title: cmp.Or(o.Title, strings.TrimSuffix(o.Summary, ".")), Description: o.Description,
		ParamsTitle: "Parameters", Fields: fields(o.Out, "", 2),
		Try: o.Method == http.MethodGet, Of: o,
	}
	if o.Path != "" {
		out.Action = at.prefix + o.Path
	}
	if o.Method == http.MethodPost {
		out.ParamsTitle = "Members of the JSON body"
	}
	if o.Tool != "" {
		out.Notes = append(out.Notes, "as a tool: "+o.Tool)
	}
	for _, f := range o.Forms {
		name, _, _ := strings.Cut(f.Type, ";")
		if f.Only {
			name = "always " + name
			out.Fields = nil
		} else {
			name = "also as " + name
		}
		out.Notes = append(out.Notes, name)
	}
	examples := o.ExampleValues()
	for _, p := range o.NamedParams() {
		shown := newParam(p, examples[p.Name])
		out.Params = append(out.Params, shown)
		out.NeedsScript = out.NeedsScript || o.Path != "" && (p.Path || shown.mayNotBeEmpty())
	}
	if o.Path != "" {
		out.request(at)
		return out
	}
	line := []string{"almanac", "tools", "call", o.Tool}
	if in, ok := o.ExampleInput(); ok {
		line = append(line, o.Line(in)...)
	}
	out.Request = op.Shell(line...)
	return out
}

// request fills the example and its curl lines. Without an example the line has the
// address as it is documented.
func (out *Operation) request(at address) {
	target, body := out.Path, "{}"
	in, ok := out.Of.ExampleInput()
	if ok {
		filled, raw := out.Of.Target(in)
		target = filled
		if out.Method == http.MethodPost {
			body = string(raw)
		} else {
			out.Example = at.prefix + filled
		}
	}
	out.Request = op.Shell("curl", at.public+target)
	posted := func(target, body string) string {
		return op.Shell("curl", at.public+target, "-H", "Content-Type: application/json", "-d", body)
	}
	if out.Method == http.MethodPost {
		out.Request = posted(target, body)
	}
	if out.Of.Post {
		if ok {
			body = string(jsonOf(out.Of))
		}
		out.Posted = posted(out.Path, body)
	}
}

// fields lists the parts of an answer, down to a depth.
func fields(s *jsonschema.Schema, within string, depth int) (out []Field) {
	for s != nil && s.Items != nil {
		s, within = s.Items, within+"*."
	}
	if s == nil || depth == 0 {
		return nil
	}
	names := s.PropertyOrder
	if len(names) != len(s.Properties) {
		names = slices.Sorted(maps.Keys(s.Properties))
	}
	for _, name := range names {
		p := s.Properties[name]
		if p == nil {
			continue
		}
		out = append(out, Field{Name: within + name, Kind: kindOf(p), Doc: p.Description})
		if p.Items != nil && p.Items.Properties != nil || p.Properties != nil {
			out = append(out, fields(p, within+name+".", depth-1)...)
		}
	}
	return out
}

// kindOf says what a part of an answer is.
func kindOf(s *jsonschema.Schema) string {
	if s.Items != nil {
		return "list of " + cmp.Or(kindOf(s.Items), "value") + "s"
	}
	return cmp.Or(s.Format, s.Type, strings.Join(s.Types, " or "))
}

// Param is one parameter with its constraints in words, and its field in the
// form.
type Param struct {
	Name     string
	Path     bool // part of the address
	Required bool
	Kind     string // type and constraints: "integer, 1 to 100, default 20"
	Doc      string
	Enum     []string
	Switch   bool // a boolean; Enum has its values
	Pattern  string
	Default  string
	Example  string // value of the field at first
	Input    string // type of the field
	Min, Max string
}

func newParam(p op.Param, example json.RawMessage) Param {
	s := p.Schema
	item := s
	if s.Items != nil {
		item = s.Items
	}
	out := Param{
		Name: p.Name, Path: p.Path, Required: p.Required, Doc: p.Doc, Pattern: item.Pattern,
		Default: plain(p.Default), Example: plain(example), Input: "text",
		Min: number(item.Minimum), Max: number(item.Maximum),
	}
	if item.Type == "integer" || item.Type == "number" {
		out.Input = "number"
	}
	for _, e := range item.Enum {
		if word, ok := e.(string); ok {
			out.Enum = append(out.Enum, word)
		}
	}
	if item.Type == "boolean" {
		out.Switch, out.Enum = true, []string{"true", "false"}
	}
	out.Kind = strings.Join(constraints(s, item, out), ", ")
	return out
}

// mayNotBeEmpty reports whether the field of an optional parameter is empty at
// first and must then be left out.
func (p Param) mayNotBeEmpty() bool {
	return !p.Required && p.Default == "" && (p.Input == "number" || p.Switch)
}

// constraints are the words about a parameter's type and range.
func constraints(s, item *jsonschema.Schema, p Param) []string {
	words := []string{item.Type}
	if s.Items != nil {
		words = []string{"list of " + item.Type + "s, separated by commas"}
	}
	switch {
	case p.Min != "" && p.Max != "":
		words = append(words, p.Min+" to "+p.Max)
	case p.Min != "":
		words = append(words, p.Min+" at least")
	case p.Max != "":
		words = append(words, p.Max+" at most")
	}
	if s.MaxItems != nil {
		words = append(words, fmt.Sprintf("%d items at most", *s.MaxItems))
	}
	if item.MaxLength != nil {
		words = append(words, fmt.Sprintf("%d characters at most", *item.MaxLength))
	}
	if item.Format != "" {
		words = append(words, item.Format)
	}
	if p.Default != "" {
		words = append(words, "default "+p.Default)
	}
	return words
}

func number(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

// plain writes a JSON value as it is written in an address; lists with commas.
func plain(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	if list, ok := v.([]any); ok {
		var words []string
		for _, e := range list {
			words = append(words, fmt.Sprint(e))
		}
		return strings.Join(words, ",")
	}
	if n, ok := v.(float64); ok {
		return number(&n)
	}
	return fmt.Sprint(v)
}

// jsonOf writes the example of an operation as a body.
func jsonOf(o op.Operation) []byte {
	raw, err := json.Marshal(o.ExampleValues())
	if err != nil { // raw JSON always encodes
		return []byte("{}")
	}
	return raw
}

// width is that of a terminal of which nothing else is known.
const width = 80

// Rows are each operation with its group, its summary and, if it has one, an example
// call.
func Rows(ops []op.Operation, program string) (rows [][]string) {
	for _, o := range ops {
		rows = append(rows, []string{o.Command(), o.Group, o.Summary})
		if in, ok := o.ExampleInput(); ok {
			rows = append(rows, []string{"", "", program + " " + o.Command() + " " + op.Shell(o.Line(in)...)})
		}
	}
	return rows
}

// Help prints what an operation is for and which arguments it takes on the command line.
func Help(w io.Writer, o op.Operation, program string) {
	called := program + " " + o.Command()
	fmt.Fprintf(w, "Usage: %s name=value ...\n       %s --name value ...\n\n", called, called)
	fill(w, "", cmp.Or(o.Description, o.Summary))
	fmt.Fprintln(w, "\nArguments:")
	if len(o.Params) == 0 {
		fmt.Fprintln(w, "  none")
	}
	for _, p := range o.LineParams() {
		var about []string
		if p.Required {
			about = append(about, "required")
		}
		if p.Doc != "" {
			about = append(about, strings.TrimSuffix(p.Doc, "."))
		}
		said := newParam(p, nil)
		if about = append(about, said.Kind); len(said.Enum) > 0 && !said.Switch {
			about = append(about, "one of "+strings.Join(said.Enum, ", "))
		}
		fmt.Fprintf(w, "  %s\n", p.Name)
		fill(w, "      ", strings.Join(about, "; "))
	}
	if in, ok := o.ExampleInput(); ok {
		fmt.Fprintf(w, "\nExample:\n  %s %s\n", called, op.Shell(o.Line(in)...))
	}
}

func fill(w io.Writer, indent, text string) {
	for _, l := range filled(text, width-len(indent)) {
		fmt.Fprintln(w, indent+l)
	}
}

// filled breaks a text into lines of at most so many characters, at blanks: a longer
// word, such as an address, stays whole.
func filled(text string, most int) (lines []string) {
	current := ""
	for word := range strings.FieldsSeq(text) {
		if current != "" && utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) > most {
			lines, current = append(lines, current), ""
		}
		if current != "" {
			current += " "
		}
		current += word
	}
	if current != "" {
		lines = append(lines, current)
	}
	return lines
}

// Markdown writes the reference of all tools, as docs/reference/tools.md has it: by group,
// each with its description, its arguments and its address on REST.
func Markdown(w io.Writer, ops []op.Operation, groups []Group) error {
	tools := 0
	for _, o := range ops {
		if o.Tool != "" {
			tools++
		}
	}
	_, err := fmt.Fprintf(w, `# Tools

The %d tools of /mcp and of `+"`almanac mcp`"+`, with the addresses that answer the same on REST. The words are those of
the sample network; `+"`almanac tools list --markdown --network FILE`"+` prints those of yours. Arguments in bold are
required.
`+"`/mcp?toolsets=cips,search&tools=get_doc`"+` lists some of them only.
`, tools)
	for _, g := range groups {
		first := true
		for _, o := range ops {
			if o.Tool == "" || o.Group != g.Name {
				continue
			}
			if first {
				first = false
				fmt.Fprintf(w, "\n## %s\n\n%s\n", g.Name, g.Description)
			}
			describeTool(w, o)
		}
	}
	return err
}

func describeTool(w io.Writer, o op.Operation) {
	fmt.Fprintf(w, "\n### %s\n\n%s", o.Tool, o.Text())
	if o.Path != "" {
		fmt.Fprintf(w, " REST: `%s %s`.", o.Method, o.Path)
	}
	if o.Extra {
		fmt.Fprint(w, " Listed only by its name or with the toolset `extras`.")
	}
	fmt.Fprint(w, "\n\n")
	required := map[string]bool{}
	for _, name := range o.ToolIn.Required {
		required[name] = true
	}
	for _, p := range o.Params {
		if p.ToolName == "" {
			continue
		}
		name := "`" + p.ToolName + "`"
		if required[p.ToolName] {
			name = "**" + name + "**"
		}
		fmt.Fprintf(w, "- %s: %s\n", name, strings.TrimSuffix(p.Doc, "."))
	}
	if in, ok := o.ExampleInput(); ok {
		fmt.Fprintf(w, "\n      almanac tools call %s %s\n", o.Command(), op.Shell(o.Line(in)...))
	}
}
