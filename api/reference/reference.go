// Package reference makes the HTML page that documents the REST operations and
// lets people try them. The page holds all it needs, so that a policy may forbid
// everything else; it is readable without JavaScript.
package reference

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"almanac/api/op"
	"almanac/api/openapi"
)

var (
	//go:embed reference.html
	layout string
	//go:embed reference.css
	style string
	//go:embed reference.js
	script string

	page = template.Must(template.New("reference").Parse(layout))
)

// Config of the page.
type Config struct {
	Title      string
	PublicURL  string
	Operations []op.Operation
	Groups     []openapi.Group // in their order
	Group      string          // of the page's own operation
}

// Operation serves the page.
func Operation(cfg Config) (op.Operation, error) {
	var html bytes.Buffer
	if err := page.Execute(&html, newView(cfg)); err != nil {
		return op.Operation{}, fmt.Errorf("reference: %w", err)
	}
	form := op.Form{
		Type: "text/html; charset=utf-8", Only: true, Policy: policy(),
		Write: func(any) ([]byte, error) { return html.Bytes(), nil },
	}
	return op.New(op.Spec{
		ID: "get_reference", Group: cfg.Group, Path: "/api/v1/reference", BeforeReady: true, Forms: []op.Form{form},
		Summary: "These endpoints as a page for people, with forms to try them.",
	}, func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }), nil
}

// policy allows the page's own style and script by their hashes, and to ask this
// server.
func policy() string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "style-src " + hash(style) + "; script-src " + hash(script) +
		"; connect-src 'self'; form-action 'self'; img-src data:"
}

// view is what the template shows.
type view struct {
	Title, PublicURL string
	Prefix           string // of addresses on this server
	Groups           []*group
	Style            template.CSS
	Script           template.JS
}

type group struct {
	openapi.Group
	Open       bool
	Operations []operation
}

// operation is one method of an address.
type operation struct {
	ID, Method, Path string
	Short            string // the path without what all have in common
	Summary          string
	Description      string
	Notes            []string // what else to know: the tool, media types
	ParamsTitle      string
	Params           []param
	Example          string // address; "" = none
	Curl             string
	Try              bool   // it has a form
	NeedsScript      bool   // that a browser cannot send by itself
	Action, Template string // addresses of the form, the second with its {parameters}
}

func newView(cfg Config) view {
	v := view{Title: cfg.Title, PublicURL: cfg.PublicURL, Style: template.CSS(style), Script: template.JS(script)}
	if u, err := url.Parse(cfg.PublicURL); err == nil {
		v.Prefix = u.Path
	}
	for _, g := range cfg.Groups {
		v.Groups = append(v.Groups, &group{Group: g})
	}
	for _, o := range cfg.Operations {
		at := slices.IndexFunc(v.Groups, func(g *group) bool { return g.Name == o.Group })
		if o.Path == "" || at < 0 {
			continue
		}
		g := v.Groups[at]
		g.Operations = append(g.Operations, v.operation(o, o.Method))
		if o.Post {
			g.Operations = append(g.Operations, v.operation(o, http.MethodPost))
		}
	}
	v.Groups = slices.DeleteFunc(v.Groups, func(g *group) bool { return len(g.Operations) == 0 })
	if len(v.Groups) > 0 {
		v.Groups[0].Open = true
	}
	return v
}

func (v view) operation(o op.Operation, method string) operation {
	path := strings.ReplaceAll(o.Path, "...}", "}")
	out := operation{
		ID: o.ID, Method: method, Path: path, Summary: o.Summary, Description: o.Description,
		Short: strings.TrimPrefix(path, "/api/v1/"), ParamsTitle: "Parameters",
		Action: v.Prefix + o.Path, Template: v.Prefix + o.Path, Try: method == http.MethodGet,
	}
	if method == http.MethodPost {
		out.ParamsTitle = "Members of the JSON body"
		if o.Post {
			out.ID += "_post"
		}
	}
	if o.Tool != "" {
		out.Notes = append(out.Notes, "as a tool: "+o.Tool)
	}
	for _, f := range o.Forms {
		name, _, _ := strings.Cut(f.Type, ";")
		if f.Only {
			name = "always " + name
		} else {
			name = "also as " + name
		}
		out.Notes = append(out.Notes, name)
	}
	examples := o.ExampleValues()
	for _, p := range o.Params {
		if p.REST {
			shown := newParam(p, examples[p.Name])
			out.Params = append(out.Params, shown)
			out.NeedsScript = out.NeedsScript || p.Path || shown.mayNotBeEmpty()
		}
	}
	out.request(v, o)
	return out
}

// request fills the example and its curl line. Without an example the line has
// the address as it is documented.
func (out *operation) request(v view, o op.Operation) {
	target, body := out.Path, "{}"
	if in, ok := o.ExampleInput(); ok {
		filled, raw := o.Target(in)
		switch {
		case o.Method == http.MethodPost:
			target, body = filled, string(raw)
		case out.Method == http.MethodPost:
			body = string(jsonOf(o))
		default:
			target, out.Example = filled, v.Prefix+filled
		}
	}
	out.Curl = "curl " + quote(v.PublicURL+target)
	if out.Method == http.MethodPost {
		out.Curl += " -H 'Content-Type: application/json' -d " + quote(body)
	}
}

// quote quotes a word for a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
