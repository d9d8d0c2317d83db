package library

import (
	"context"
	"maps"
	"slices"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

type endpointsIn struct {
	Q      arg.Query `json:"q"`
	Method string    `json:"method" enum:"GET,PUT,POST,DELETE,OPTIONS,HEAD,PATCH,TRACE" doc:"only this method"`
	Path   string    `json:"path" maxLength:"300" doc:"only paths with this in them"`
	API    string    `json:"api" maxLength:"300" doc:"only this API: a name of apis"`
	arg.Paging
}

// Endpoints are endpoints of APIs, or what a search found among them.
type Endpoints struct {
	kb.List[Endpoint]
	APIs     []API    `json:"apis" doc:"all that are described"`
	Degraded []string `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
}

// API is an API with described endpoints.
type API struct {
	Name      string `json:"name"`
	Endpoints int    `json:"endpoints" doc:"in all descriptions of it"`
}

// Endpoint is an operation of an API.
type Endpoint struct {
	kb.Item
	Method  string    `json:"method"`
	Address string    `json:"address" doc:"path of the server, and below it that of the endpoint, with {parameters}"`
	API     string    `json:"api"`
	Purpose string    `json:"purpose"`
	Tags    []string  `json:"tags"`
	Line    int       `json:"line" doc:"of the file, where its description begins"`
	Match   *find.Why `json:"match,omitempty" doc:"with q: why it was found"`
}

var endpoints = kb.New(op.Spec{
	ID: "list_endpoints", Path: "/api/v1/endpoints", MayFail: []error{op.ErrUnavailable},
	Example: endpointsIn{Paging: arg.Paging{Limit: 5}},
	Doc: `
Endpoints of APIs, by file and path; with q the best matches first.

They are read from OpenAPI and Swagger descriptions. A search for a method and a path, or a path alone, finds that
endpoint first.
`,
}, func(ctx context.Context, b kb.Base, in endpointsIn) (Endpoints, error) {
	apis, err := describedAPIs(ctx, b)
	if err != nil {
		return Endpoints{}, err
	}
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindEndpoint}, Categories: arg.Only(in.API, ""), Text: in.Path,
		AllTags: catalog.Tags(catalog.TagMethod, in.Method),
	}
	if in.Q == "" {
		list, err := kb.Rows(ctx, b, q, in.Paging, endpoint)
		return Endpoints{List: list, APIs: apis}, err
	}
	s := find.Search{Field: "q", Query: string(in.Q), Kinds: q.Kinds, Limit: in.Limit, Offset: in.Offset}
	if in.API+in.Path+in.Method != "" { // engines do not filter by these
		records, _, err := b.Catalog.List(ctx, q)
		if err != nil {
			return Endpoints{}, err
		}
		s.Filter.Records = find.Among(records)
	}
	found, err := find.Rows(ctx, b, s, func(b kb.Base, m find.Match) (Endpoint, error) {
		e, err := endpoint(b, m.Record)
		e.Match = new(m.Why())
		return e, err
	})
	return Endpoints{found.Page(in.Paging), apis, found.Degraded}, err
})

func endpoint(b kb.Base, r catalog.Record) (Endpoint, error) {
	d, err := kb.Decode[catalog.APIEndpoint](r)
	return Endpoint{Item: b.Item(r), Method: d.Method, Address: d.Base + d.Route, API: r.Category, Purpose: r.Summary,
		Tags: d.Groups, Line: d.Line}, err
}

// describedAPIs are the APIs with endpoints, by name.
func describedAPIs(ctx context.Context, b kb.Base) (all []API, err error) {
	counts, err := b.Counts(ctx)
	of := map[string]int{}
	for _, c := range counts {
		if c.Kind == catalog.KindEndpoint {
			of[c.Category] += c.N
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, API{name, of[name]})
	}
	return all, err
}
