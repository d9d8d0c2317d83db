package reference

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/api/op"
)

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
