// Package line serves operations on the command line: it lists them, and calls
// one with arguments written name=value.
package line

import (
	"context"
	"encoding/json"
	"io"

	"almanac/api/op"
	"almanac/text/nearest"
)

// name is what the command line calls an operation: its tool, or its id if it
// is not a tool.
func name(o op.Operation) string {
	if o.Tool != "" {
		return o.Tool
	}
	return o.ID
}

// Rows are each operation with its group, its summary and, if it has one, an example
// call.
func Rows(ops []op.Operation, program string) (rows [][]string) {
	for _, o := range ops {
		rows = append(rows, []string{name(o), o.Group, o.Summary})
		if in, ok := o.ExampleInput(); ok {
			rows = append(rows, []string{"", "", program + " " + name(o) + " " + op.Shell(o.Line(in)...)})
		}
	}
	return rows
}

// Call runs an operation and prints its answer as indented JSON, as REST
// would. An unknown name or argument is op.ErrInvalid and names the nearest.
func Call(ctx context.Context, w io.Writer, ops []op.Operation, called string, words []string) error {
	raw, err := Answer(ctx, ops, called, words)
	if err != nil {
		return err
	}
	return Print(w, json.RawMessage(raw))
}

// Print writes a value as indented JSON.
func Print(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Answer is Call without printing.
func Answer(ctx context.Context, ops []op.Operation, called string, words []string) ([]byte, error) {
	answer, err := Run(ctx, ops, called, words)
	if err != nil {
		return nil, err
	}
	return op.Encode(answer)
}

// Run is Call that returns the operation's own answer.
func Run(ctx context.Context, ops []op.Operation, called string, words []string) (any, error) {
	o, err := find(ops, called)
	if err != nil {
		return nil, err
	}
	in, err := o.DecodeLine(words)
	if err != nil {
		return nil, err
	}
	return o.Run(op.Strict(ctx), in)
}

// Names are what the command line calls the operations.
func Names(ops []op.Operation) (names []string) {
	for _, o := range ops {
		names = append(names, name(o))
	}
	return names
}

// find returns the operation of a name.
func find(ops []op.Operation, called string) (op.Operation, error) {
	for _, o := range ops {
		if name(o) == called {
			return o, nil
		}
	}
	if near := nearest.Of(called, Names(ops)); near != "" {
		return op.Operation{}, op.Invalid("unknown tool %q: did you mean %q?", called, near)
	}
	return op.Operation{}, op.Invalid("unknown tool %q: list names them", called)
}
