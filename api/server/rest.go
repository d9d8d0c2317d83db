package server

import (
	"context"
	"net/http"
	"net/url"

	"almanac/api/limit"
	"almanac/api/op"
)

// MaxBody is how long the body of a POST may be, in bytes.
const MaxBody = 64 << 10

// REST serves operations over HTTP.
type REST struct {
	op.Serving
	// Description is that of the operations as OpenAPI; nil = none.
	Description []byte
	// Limit counts every request but those of probes; nil = none.
	Limit *limit.Bucket
	// Readers are the origins whose pages may read the answers.
	Readers Origins
	// PublicURL begins the addresses in Link headers: https://kb.example.org.
	PublicURL string
}

// Routes are the rows of operations and of their description, and the row that says
// that there is no such address.
func (cfg REST) Routes() (all []Route) {
	cfg.Serving = cfg.WithDefaults()
	for _, o := range cfg.Operations {
		if o.Path == "" || len(o.Forms) == 1 && o.Forms[0].Write == nil {
			continue
		}
		all = append(all, cfg.operation(o))
		if o.Post {
			posted := all[len(all)-1]
			posted.Method = http.MethodPost
			all = append(all, posted)
		}
	}
	if cfg.Description != nil {
		all = append(all, cfg.row(http.MethodGet, "/api/v1/openapi.json", 1, func(*http.Request) (*Answer, error) {
			return &Answer{Type: JSONType, Body: cfg.Description, Keep: Revalidate}, nil
		}))
	}
	return append(all, cfg.row("", "", 1, func(*http.Request) (*Answer, error) {
		return nil, op.NotFound("no such endpoint; GET /api/v1 lists them, and clients of tools connect to /mcp")
	}))
}

// row is a route whose answers pages may read.
func (c REST) row(method, path string, forms int, serve func(*http.Request) (*Answer, error)) Route {
	return Route{
		Method: method, Path: path, Serve: serve, Limit: c.Limit, MaxBody: MaxBody, Shared: true,
		Headers: func(h http.Header, r *http.Request) {
			c.Readers.Share(h, r)
			if forms > 1 {
				h.Add("Vary", "Accept")
			}
		},
	}
}

// operation decodes, runs and encodes.
func (c REST) operation(o op.Operation) Route {
	forms := o.Forms
	if len(forms) != 1 || !forms[0].Only {
		forms = append([]op.Form{{Type: JSONType, Write: op.Encode}}, forms...)
	}
	types := make([]string, len(forms))
	for i, f := range forms {
		types[i] = f.Type
	}
	rt := c.row(o.Method, o.Path, len(forms), func(r *http.Request) (*Answer, error) {
		ctx, cancel := context.WithTimeout(r.Context(), c.Timeout)
		defer cancel()
		if !o.BeforeReady {
			if err := c.Await(ctx, 0); err != nil {
				return nil, err
			}
		}
		in, err := decode(o, r)
		if err != nil {
			return nil, err
		}
		answer, err := o.Run(ctx, in)
		if err != nil {
			return nil, err
		}
		form := forms[ChooseType(r, types...)]
		body, err := form.Write(answer)
		a := &Answer{Type: form.Type, Body: body}
		if err != nil || r.Method == http.MethodPost {
			return a, err
		}
		if a.Keep = Revalidate; o.Probe {
			a.Keep = NoStore
		}
		if next, ok := o.Next(in, answer); ok {
			target, _ := o.Target(next)
			a.Header = http.Header{"Link": {"<" + c.PublicURL + target + `>; rel="next"`}}
		}
		return a, nil
	})
	if shared := rt.Headers; o.Probe {
		rt.Limit = nil
		rt.Headers = func(h http.Header, r *http.Request) {
			shared(h, r)
			h.Set("Connection", "close") // what nothing counts keeps no connection
		}
	}
	return rt
}

// decode reads the arguments of a request.
func decode(o op.Operation, r *http.Request) (in op.Input, err error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return in, op.Invalid("the query string is malformed: write %% as %%25 and ; as %%3B")
	}
	var body []byte
	if r.Method == http.MethodPost {
		if body, _, err = Body(r, "application/json"); err != nil {
			return in, err
		}
	}
	path := map[string]string{}
	for _, p := range o.Params {
		if p.Path {
			path[p.Name] = r.PathValue(p.Name)
		}
	}
	return o.Decode(path, query, body)
}
