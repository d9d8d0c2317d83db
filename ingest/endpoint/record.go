package endpoint

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"almanac/catalog"
	"almanac/catalog/derive"
)

// File is where a description is.
type File struct {
	Path      string   // of the records, and the beginning of their keys
	Former    []string // its former paths
	URL       string   // address of the file; "": none
	Container string   // repository
	Commit    string
	Licence   string
	Created   time.Time
	Updated   time.Time
	Other     bool // it is of another version than the current one
}

// Entries makes a record of each operation.
func (a API) Entries(f File) (all []catalog.Entry, err error) {
	for _, o := range a.Operations {
		name := "#" + o.Route + " " + o.Method
		r := catalog.Record{
			Kind: catalog.KindEndpoint, Key: f.Path + name, Title: o.Method + " " + o.Route, Path: f.Path,
			Container: f.Container, Category: cmp.Or(a.Title, path.Base(f.Path)), CreatedAt: f.Created, UpdatedAt: f.Updated,
			Body: o.body(a.Title), Summary: o.purpose(), Tags: catalog.Tags(catalog.TagMethod, o.Method),
		}
		r.Tags = append(r.Tags, catalog.Tags(catalog.TagLabel, o.Groups...)...)
		if f.URL != "" {
			r.URL = f.URL + "#L" + strconv.Itoa(o.Line)
		}
		if o.Deprecated {
			r.State = catalog.EndpointDeprecated
		}
		if f.Other {
			r.Tags = append(r.Tags, catalog.TagOtherVersion)
		}
		data := o.APIEndpoint
		data.Commit, data.Licence = f.Commit, f.Licence
		e, err := r.With(data)
		if err != nil {
			return nil, err
		}
		for _, former := range f.Former {
			e.Aliases = append(e.Aliases, former+name)
		}
		all = append(all, e)
	}
	return all, nil
}

// purpose is a line that says what the operation is for: its summary, else the first
// sentence of its description, else the words of its id.
func (o Operation) purpose() string {
	if s := o.Summary; !o.called(s) {
		return s
	}
	paragraph, _, _ := strings.Cut(o.Description, "\n\n")
	if s := derive.Sentences(strings.Join(strings.Fields(paragraph), " ")); len(s) > 0 {
		return line(s[0])
	}
	return words(o.Operation)
}

// called reports whether a summary only repeats what the operation is called.
func (o Operation) called(summary string) bool {
	for _, name := range []string{"", o.Route, o.Method + " " + o.Route, o.Operation} {
		if strings.EqualFold(summary, name) {
			return true
		}
	}
	return false
}

var joint = regexp.MustCompile(`([\p{Ll}\d])(\p{Lu})|[-_.]+`)

// words takes an operation id apart: getLampState is "Get lamp state".
func words(id string) string {
	s := strings.ToLower(strings.TrimSpace(joint.ReplaceAllString(id, "$1 $2")))
	if s == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// body tells what the operation does, what it takes and what it answers, in Markdown.
func (o Operation) body(api string) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s\n", code(o.Method+" "+o.Base+o.Route))
	purpose := o.purpose()
	if !strings.HasPrefix(line(o.Description), strings.TrimSuffix(purpose, "…")) {
		fmt.Fprintf(b, "\n%s\n", purpose)
	}
	if o.Deprecated {
		b.WriteString("\n**Deprecated.**\n")
	}
	if o.Description != "" {
		fmt.Fprintf(b, "\n%s\n", o.Description)
	}
	if len(o.Parameters) > 0 {
		b.WriteString("\n## Parameters\n\n| name | in | type | meaning |\n|---|---|---|---|\n")
		for _, p := range o.Parameters {
			in := p.In
			if p.Required {
				in += ", required"
			}
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", code(p.Name), cell(in), cell(p.Type), cell(p.Description))
		}
	}
	if c := o.Request; c != nil {
		required := ""
		if c.Required {
			required = "required"
		}
		fmt.Fprintf(b, "\n## Request body\n\n%s\n", cmp.Or(join("; ", kind(*c), required, c.Description), "any"))
	}
	if len(o.Responses) > 0 {
		b.WriteString("\n## Responses\n\n| status | body | meaning |\n|---|---|---|\n")
		for _, c := range o.Responses {
			fmt.Fprintf(b, "| %s | %s | %s |\n", cell(c.Status), cell(kind(c)), cell(c.Description))
		}
	}
	var about []string
	if o.Operation != "" {
		about = append(about, "operation "+code(o.Operation))
	}
	if api != "" {
		about = append(about, "API: "+api)
	}
	if len(o.Groups) > 0 {
		about = append(about, "tags: "+strings.Join(o.Groups, ", "))
	}
	if len(o.Servers) > 0 {
		about = append(about, "served at "+strings.Join(o.Servers, ", "))
	}
	if len(about) > 0 {
		fmt.Fprintf(b, "\n## About\n\n%s\n", strings.Join(about, "; "))
	}
	return b.String()
}

// kind says what a body is.
func kind(c catalog.APIContent) string { return join(": ", strings.Join(c.Media, ", "), c.Type) }

// join joins what is not empty.
func join(by string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), by)
}

// cell is a text in a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// code is a name as code.
func code(s string) string {
	if s = cell(s); strings.Contains(s, "`") {
		return s
	}
	return "`" + s + "`"
}
