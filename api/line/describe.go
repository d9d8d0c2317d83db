package line

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/api/op"
)

// Width is that of a terminal of which nothing else is known.
const Width = 80

// Describe prints what an operation is for and which arguments it takes on the command line.
func Describe(w io.Writer, ops []op.Operation, called, program string) error {
	o, err := find(ops, called)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Usage: %s %s name=value ...\n       %s %s --name value ...\n\n", program, name(o), program, name(o))
	fill(w, "", cmp.Or(o.Description, o.Summary))
	fmt.Fprintln(w, "\nArguments:")
	if len(o.Params) == 0 {
		fmt.Fprintln(w, "  none")
	}
	for _, p := range o.Params {
		argument, schema, required := cmp.Or(p.ToolName, p.Name), o.ToolIn.Properties[p.ToolName], p.Required
		if schema != nil {
			required = slices.Contains(o.ToolIn.Required, argument)
		} else {
			schema = p.Schema
		}
		about := []string{}
		if required {
			about = append(about, "required")
		}
		if p.Doc != "" {
			about = append(about, strings.TrimSuffix(p.Doc, "."))
		}
		about = append(about, values(schema)...)
		if schema.Default != nil && string(schema.Default) != `""` {
			about = append(about, "default "+strings.Trim(string(schema.Default), `"`))
		}
		fmt.Fprintf(w, "  %s\n", argument)
		fill(w, "      ", strings.Join(about, "; "))
	}
	if in, ok := o.ExampleInput(); ok {
		fmt.Fprintf(w, "\nExample:\n  %s %s %s\n", program, name(o), op.Shell(o.Line(in)...))
	}
	return nil
}

// values says which values an argument takes.
func values(s *jsonschema.Schema) (about []string) {
	if s.Items != nil {
		about = append(about, "several, separated by commas")
		s = s.Items
	}
	if len(s.Enum) > 0 {
		var words []string
		for _, v := range s.Enum {
			words = append(words, fmt.Sprint(v))
		}
		about = append(about, "one of "+strings.Join(words, ", "))
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		about = append(about, fmt.Sprintf("%v to %v", *s.Minimum, *s.Maximum))
	case s.Minimum != nil:
		about = append(about, fmt.Sprintf("at least %v", *s.Minimum))
	}
	return about
}

func fill(w io.Writer, indent, text string) {
	for _, l := range Fill(text, Width-len(indent)) {
		fmt.Fprintln(w, indent+l)
	}
}

// Fill breaks a text into lines of at most so many characters, at blanks: a longer
// word, such as an address, stays whole.
func Fill(text string, width int) (lines []string) {
	current := ""
	for word := range strings.FieldsSeq(text) {
		if current != "" && utf8.RuneCountInString(current)+1+utf8.RuneCountInString(word) > width {
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
