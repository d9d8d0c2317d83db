// Package op defines an operation once, free of transports: a typed query
// with its description, its schemas and its run function. Packages rest and
// mcp serve operations; openapi, the tool catalogue and the documentation
// describe them. It imports catalog/network, for misspelt names.
package op

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// Spec describes an operation: where it is served and what clients are told.
type Spec struct {
	// ID is the operation's unique name, snake_case: list_cips.
	ID string
	// Summary is one line. Description, at most two sentences, says it at
	// more length; it is what a tool is described by.
	Summary     string
	Description string

	// Method and Path serve it on REST; Path empty: not on REST. Path is
	// relative to the public URL, with {name} for path parameters:
	// /api/v1/cips/{id}; a last {name...} takes the rest of the path, slashes
	// and all. Method is GET (default) or POST with a JSON body.
	Method string
	Path   string

	// Tool serves it on MCP under this name in the group; Tool empty: not on
	// MCP. Group is also its tag in OpenAPI: the name of its package.
	Tool  string
	Title string // of the tool, for people
	Group string

	// MayFail lists the sentinels besides ErrInvalid that Run returns, for the
	// responses OpenAPI documents.
	MayFail []error
	// MaxAge is how long, in seconds, a client may cache the REST answer
	// without asking again; 0 = it must revalidate by ETag.
	MaxAge int
	// OpenWorld marks a tool that reaches beyond the catalog.
	OpenWorld bool
	// BeforeReady marks an operation that answers before the first index is
	// complete; any other is ErrUnavailable until then.
	BeforeReady bool
}

// Text describes the operation by itself, as a tool: Description, or Summary
// where that says it all.
func (s Spec) Text() string {
	if s.Description == "" {
		return s.Summary
	}
	return s.Description
}

// Operation is a Spec with its types erased: what a list can hold.
type Operation struct {
	Spec
	In, Out *jsonschema.Schema // of REST; ToolIn of the tool
	ToolIn  *jsonschema.Schema
	// Params are the fields of In, in declaration order.
	Params []Param

	in    reflect.Type
	run   func(ctx context.Context, in reflect.Value) (any, error)
	types map[*jsonschema.Schema]reflect.Type
}

// Param is one argument of an operation.
type Param struct {
	Name     string // on REST
	ToolName string // on MCP; "" = not a tool argument
	REST     bool   // false: only a tool argument
	Path     bool   // it stands in Spec.Path
	Required bool   // on REST
	Schema   *jsonschema.Schema
	Doc      string
	Default  json.RawMessage // on REST

	index      []int
	rest, tool *argument // nil where it is not served
}

// New makes an operation of a function. Struct tags of In:
//
//	json:"limit"       the name
//	tool:"cip_id"      another name on MCP; tool:"-" not on MCP
//	rest:"-"           not on REST
//	doc:"…"            description
//	default:"20" minimum:"1" maximum:"100" maxItems:"50" maxLength:"…"
//	enum:"a,b" (matched without regard to case, answered in this spelling)
//	pattern:"…" format:"date"
//	required:"true"
//	like:"56 or CIP-0056"  what the message of a failed pattern says; without
//	it the message repeats doc
//	tooldefault:"…" toolmaximum:"…" toolpattern:"…" toolenum:"…"  where MCP
//	differs; every tag from doc to like has such a twin
//
// Kinds of fields: strings, integers, floats, bool, time.Time, pointers to
// these (nil = not given), slices of strings and integers, and for JSON alone
// map[string]any or json.RawMessage (an object). On REST an optional string
// that is empty is not given.
//
// Fields of Out take json, doc, enum and format; slices are arrays and never
// null, pointers are nullable, omitempty fields are optional.
// New panics on a type it cannot describe: that is a mistake in the program.
func New[In, Out any](s Spec, run func(ctx context.Context, in In) (Out, error)) Operation {
	return build(s, reflect.TypeFor[In](), reflect.TypeFor[Out](), func(ctx context.Context, in reflect.Value) (any, error) {
		return run(ctx, in.Interface().(In))
	})
}

// Input holds the decoded arguments of one call.
type Input struct{ v reflect.Value }

// Value returns the operation's In struct.
func (in Input) Value() any { return in.v.Interface() }

// Run calls the operation. The answer is for Encode.
func (o Operation) Run(ctx context.Context, in Input) (any, error) {
	return o.run(ctx, in.v)
}

func build(s Spec, in, out reflect.Type, run func(context.Context, reflect.Value) (any, error)) Operation {
	if s.Method == "" {
		s.Method = "GET"
	}
	o := Operation{Spec: s, in: in, run: run, types: map[*jsonschema.Schema]reflect.Type{}}
	o.params()
	o.Out = o.schema(out)
	return o
}

// fail reports a mistake in the program: a type or tag New cannot describe.
func (s Spec) fail(format string, args ...any) {
	panic(fmt.Sprintf("op: %s: %s", s.ID, fmt.Sprintf(format, args...)))
}
