// Package op defines operations independently of transports: a typed query
// with its description, its schemas and its run function. REST and package mcp
// serve operations; package describe says what they are.
package op

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/catalog"
)

// Spec describes an operation: where it is served, and the texts for clients.
type Spec struct {
	// ID is the operation's unique name, snake_case: list_cips.
	ID string
	// Doc holds the three texts below, laid out like a commit message: the title
	// (of a tool only) and the summary on one line each, and the description
	// after a blank line.
	Doc string
	// Summary is one line. Description, at most two sentences, says more; it is
	// the description of the tool.
	Title, Summary, Description string

	// Method and Path serve it on REST; Path empty: not on REST. Path is
	// relative to the public URL, with {name} for path parameters:
	// /api/v1/cips/{id}; a last {name...} takes the rest of the path with its
	// slashes. Method is GET (default) or POST with a JSON body. Post serves a
	// GET operation by POST as well, with the same arguments in the body.
	Method string
	Path   string
	Post   bool

	// Tool serves it on MCP under this name in the group; Tool empty: not on
	// MCP. Group is the name of its package, a toolset, and its tag in OpenAPI.
	Tool  string
	Group string
	// Extra marks a tool that is listed only on request: by its name, or with all
	// others by the toolset extras.
	Extra bool
	// Kinds are of the records that a tool answers from: without any of them it is
	// listed only if it is asked for. None: it is always listed.
	Kinds []catalog.Kind
	// Effects of a call; zero: it only reads the catalog.
	Effects Effects

	// MayFail lists the sentinels besides ErrInvalid that Run returns, for the
	// responses OpenAPI documents.
	MayFail []error
	// BeforeReady marks an operation that works before the first index is
	// complete; any other fails with ErrUnavailable.
	BeforeReady bool

	// Probe marks an operation that monitors call: no limit counts it, and nothing of it
	// is kept.
	Probe bool

	// Forms are the media types besides JSON that REST answers in.
	Forms []Form
	// Words replaces placeholders such as {{label}} in the texts above and in
	// tags by the network's terms; nil: no placeholders.
	Words *strings.Replacer
	// Example is an In with an answer on any network that has content, for the
	// documentation; nil: none. Its strings may contain placeholders.
	Example any
}

// Effects say what a call may do besides reading the catalog.
type Effects struct {
	OpenWorld     bool // it calls other servers
	Writes        bool // it may change data there
	NotIdempotent bool // calling twice differs from calling once
}

// Form is a further media type of an answer.
type Form struct {
	Type string // with its parameters: text/markdown; charset=utf-8
	Only bool   // the answer has no other form, JSON included
	// Write encodes an answer; nil: the form is a page, which the pages for people serve.
	Write func(answer any) ([]byte, error)
}

// Text is the description of the tool: Description, or Summary if that is
// empty.
func (s Spec) Text() string {
	if s.Description == "" {
		return s.Summary
	}
	return s.Description
}

// Operation is a Spec with its function, the types erased.
type Operation struct {
	Spec
	// In and Out are the schemas of REST, ToolIn and ToolOut those of the tool.
	In, Out         *jsonschema.Schema
	ToolIn, ToolOut *jsonschema.Schema
	// Params are the fields of In, in declaration order.
	Params []Param

	in    reflect.Type
	out   reflect.Type
	run   func(ctx context.Context, in reflect.Value) (any, error)
	types map[*jsonschema.Schema]reflect.Type

	shapes []*argument // of a tool, besides Params
}

// Param is one argument of an operation.
type Param struct {
	Name     string // on REST
	ToolName string // on MCP; "" = not a tool argument
	REST     bool   // false: only a tool argument
	Path     bool   // it is part of Spec.Path
	Required bool   // on REST
	Schema   *jsonschema.Schema
	Doc      string
	Default  json.RawMessage // on REST

	index      []int
	rest, tool *argument // nil: not served there
}

// New makes an operation from a function. Struct tags of In:
//
//	json:"limit"       the name
//	tool:"cip_id"      another name on MCP; tool:"-" not on MCP
//	rest:"-"           not on REST
//	unlisted:"true"    taken on MCP, and not in the schema of the tool
//	doc:"…"            description
//	default:"20" minimum:"1" maximum:"100" maxItems:"50" maxLength:"…"
//	enum:"a,b" (matched without regard to case, returned in this spelling)
//	open:"true"        values besides enum reach the operation, which refuses them itself
//	pattern:"…" format:"date"
//	type:"integer"     published as the type of a string; every string takes integers too
//	required:"true"
//	like:"56 or CIP-0056"  expected form, for the message of a failed pattern;
//	without it the message repeats doc
//	tooldefault:"…" toolmaximum:"…" toolpattern:"…" toolenum:"…"  if MCP
//	differs; every tag from doc to like has such a variant, and an empty one
//	removes the constraint
//
// Kinds of fields: strings, integers, floats, bool, time.Time, types derived
// from these, pointers to them (nil = absent), slices of strings and integers,
// and for JSON only map[string]any or json.RawMessage (an object). On REST an
// empty optional string counts as absent. A Constrained type has tags itself.
//
// Fields of Out take json, doc, enum, format and required; slices are arrays
// and never null, pointers are nullable, omitempty fields are optional. Leaner
// shortens the answer of a tool.
//
// New panics on a type it cannot describe, which is a bug in the program.
func New[In, Out any](s Spec, run func(ctx context.Context, in In) (Out, error)) Operation {
	erased := func(ctx context.Context, in reflect.Value) (any, error) { return run(ctx, in.Interface().(In)) }
	return build(s, reflect.TypeFor[In](), reflect.TypeFor[Out](), erased)
}

// Input holds the arguments of one call.
type Input struct {
	v     reflect.Value
	shape shape
}

// Run calls the operation. The answer is for Encode.
func (o Operation) Run(ctx context.Context, in Input) (any, error) {
	return o.run(ctx, in.v)
}

// Stocked reports whether there is something that an operation answers from, of the kinds
// that have records; none: that is not known.
func (o Operation) Stocked(kinds []catalog.Kind) bool {
	return len(kinds) == 0 || len(o.Kinds) == 0 ||
		slices.ContainsFunc(o.Kinds, func(k catalog.Kind) bool { return slices.Contains(kinds, k) })
}

// Gives reports whether the answers of an operation are of a type.
func Gives[T any](o Operation) bool { return o.out == reflect.TypeFor[T]() }

func build(s Spec, in, out reflect.Type, run func(context.Context, reflect.Value) (any, error)) Operation {
	if s.Method == "" {
		s.Method = "GET"
	}
	s.readDoc()
	if s.Words != nil {
		for _, text := range []*string{&s.Summary, &s.Description, &s.Title} {
			*text = s.Words.Replace(*text)
		}
	}
	o := Operation{Spec: s, in: in, out: out, run: run, types: map[*jsonschema.Schema]reflect.Type{}}
	o.params()
	o.Out = o.schema(out)
	o.ToolOut = lean(o.Out, o.types)
	o.addShape()
	if s.Example != nil {
		o.checkExample()
	}
	return o
}

// readDoc fills the texts from Doc.
func (s *Spec) readDoc() {
	if s.Doc == "" {
		return
	}
	head, description, _ := strings.Cut(strings.TrimSpace(s.Doc), "\n\n")
	if s.Tool != "" {
		s.Title, head, _ = strings.Cut(head, "\n")
	}
	s.Summary, s.Description = head, strings.Join(strings.Fields(description), " ")
}

// fail panics for a bug in the program: a type or a tag that New cannot describe.
func (s Spec) fail(format string, args ...any) {
	panic(fmt.Sprintf("op: %s: %s", s.ID, fmt.Sprintf(format, args...)))
}

// params reads the fields of In into Params and the schemas In and ToolIn.
func (o *Operation) params() {
	if o.in.Kind() != reflect.Struct {
		o.fail("In is %s, want a struct", o.in)
	}
	open := pathNames(o.Path)
	o.In = &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	// Every model reads the schemas of all tools, so they are short: that other
	// arguments are refused is not in them (checkKnown).
	o.ToolIn = &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, f := range reflect.VisibleFields(o.in) {
		name := jsonName(f)
		if name == "" || f.Anonymous {
			continue
		}
		p := o.param(f, name)
		if i := slices.Index(open, name); i >= 0 && p.REST {
			p.Path, p.Required, p.rest.required = true, true, true
			open = slices.Delete(open, i, i+1)
		}
		if p.REST {
			addProperty(o.In, p.Name, p.Schema, p.Required)
		}
		if p.ToolName != "" && f.Tag.Get("unlisted") != "true" {
			addProperty(o.ToolIn, p.ToolName, p.tool.schema, p.tool.required)
		}
		o.Params = append(o.Params, p)
	}
	if len(open) > 0 {
		o.fail("path parameter %s is not a field of %s", open[0], o.in)
	}
}

func addProperty(to *jsonschema.Schema, name string, s *jsonschema.Schema, required bool) {
	to.Properties[name] = s
	to.PropertyOrder = append(to.PropertyOrder, name)
	if required {
		to.Required = append(to.Required, name)
	}
}

// obvious are descriptions that say what the name does; tools are published
// without them.
var obvious = map[string]string{"limit": "how many to return", "offset": "how many to skip"}

// param reads one field.
func (o *Operation) param(f reflect.StructField, name string) Param {
	p := Param{Name: name, index: f.Index}
	if o.Tool != "" && f.Tag.Get("tool") != "-" {
		p.ToolName = name
		if other := f.Tag.Get("tool"); other != "" {
			p.ToolName = other
		}
		p.tool = o.argument(f, p.ToolName, "tool")
		if p.tool.schema.Description == obvious[p.ToolName] {
			p.tool.schema.Description = ""
		}
	}
	p.rest = o.argument(f, name, "")
	p.Schema, p.Doc, p.Default = p.rest.schema, p.rest.schema.Description, p.rest.schema.Default
	p.Required = p.rest.required
	p.REST = o.Path != "" && f.Tag.Get("rest") != "-"
	return p
}

// pathNames lists the parameters in a path such as /cips/{id}.
func pathNames(path string) []string {
	var names []string
	for seg := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(seg, "{") && strings.HasSuffix(seg, "}") {
			names = append(names, strings.TrimSuffix(seg[1:len(seg)-1], "..."))
		}
	}
	return names
}

// Prompt is a way to begin that a person picks in a client: what it then asks of the model.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
	// Text is what the model is asked, with {name} for the value of an argument. An
	// argument that was left out has its Missing.
	Text string
}

// PromptArgument is what a person fills in.
type PromptArgument struct {
	Name, Description string
	Missing           string // "" = it is required
}

// Serving is what every interface needs to serve operations.
type Serving struct {
	Operations []Operation
	// Ready reports whether the first index is complete, and its progress from
	// 0 to 1; nil = always ready. Before that most operations fail with
	// ErrUnavailable.
	Ready func() (ready bool, progress float64)
	// Obstacle is why there is nothing to index; nil, or "" = there is.
	Obstacle func(context.Context) string
	// Kinds lists the kinds that have records, in the order of the table of kinds; none:
	// that is not known yet. nil: records of every kind may come.
	Kinds func(context.Context) []catalog.Kind
	// Until is when calls stop waiting for the first index: one that is loaded in a
	// moment is worth waiting for. Zero: they do not wait.
	Until time.Time
	// Timeout of an operation; 0 = 15 s.
	Timeout time.Duration
	Log     *slog.Logger // nil = none
}

// WithDefaults sets the fields that are zero.
func (s Serving) WithDefaults() Serving {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.Ready == nil {
		s.Ready = func() (bool, float64) { return true, 1 }
	}
	if s.Timeout == 0 {
		s.Timeout = 15 * time.Second
	}
	return s
}

// look is the interval at which it is asked whether the index is ready.
const look = 10 * time.Millisecond

// Await returns nil when the first index is complete. It waits for that until
// Until, or for at least patience; the error says how far it is, or what to do.
func (s Serving) Await(ctx context.Context, patience time.Duration) error {
	end := time.Now().Add(patience)
	if s.Until.After(end) {
		end = s.Until
	}
	for {
		if s.Obstacle != nil {
			if why := s.Obstacle(ctx); why != "" {
				return Unavailable(5*time.Second, "%s", why)
			}
		}
		ready, progress := s.Ready()
		if ready {
			return nil
		}
		if !time.Now().Before(end) {
			return Loading(progress)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
	}
}

// Resource is a read-only snapshot for tool clients, with its own URI.
type Resource struct {
	URI, Name, Title, Description string
	MIMEType                      string // "" = application/json
	// Read returns a string, served verbatim, or a value served as JSON.
	Read func(context.Context) (any, error)
	// State describes the content for lists; nil = unknown.
	State func(context.Context) (ResourceState, error)
}

// ResourceState describes the content of a resource.
type ResourceState struct {
	Size     int64 // bytes
	Modified time.Time
}
