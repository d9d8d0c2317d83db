package api

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/catalog"
)

// resource is a row of the list below.
type resource struct {
	name, title, description string
	kinds                    []catalog.Kind // whose records it shows; none: it is as old as the process
	read                     func(context.Context, kb.Base) (any, error)
}

// resources are the read-only snapshots for tool clients; the name is the URI
// without kb://.
var resources = []resource{
	{"status", "Status", "Sync health, record counts by kind and the time of the last sync.", nil, meta.StatusResource},
	{"docs-index", "Documentation index", "The indexed documentation by repository, with its pages' titles and ids.",
		[]catalog.Kind{catalog.KindDoc}, meta.DocsIndexResource},
}

// Resources returns the resources over a knowledge base with these operations.
func Resources(b kb.Base, all []op.Operation) []op.Resource {
	b = b.Prepared()
	rows := append([]resource{{"tools", "Tools", "The tool catalogue as data.", nil,
		func(context.Context, kb.Base) (any, error) { return meta.ToolsResource(all), nil }}}, resources...)
	start := b.Now()
	out := make([]op.Resource, len(rows))
	for i, r := range rows {
		out[i] = op.Resource{
			URI: "kb://" + r.name, Name: r.name, Title: r.title, Description: r.description,
			Read: func(ctx context.Context) (any, error) { return r.read(ctx, b) },
			State: func(ctx context.Context) (op.ResourceState, error) {
				state, _, err := kb.Derived(ctx, b, "resource "+r.name, time.Minute,
					func(ctx context.Context) (op.ResourceState, error) { return r.state(ctx, b, start) })
				return state, err
			},
		}
	}
	return out
}

// state measures the content. It was changed when the newest of its records
// was, at the source or by appearing here.
func (r resource) state(ctx context.Context, b kb.Base, start time.Time) (op.ResourceState, error) {
	state := op.ResourceState{}
	content, err := r.read(ctx, b)
	if err != nil {
		return state, err
	}
	raw, err := op.EncodeTool(content)
	state.Size = int64(len(raw))
	if len(r.kinds) == 0 {
		state.Modified = start
		return state, err
	}
	for _, order := range []catalog.Order{catalog.ByUpdated, catalog.ByFirstSeen} {
		newest, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: r.kinds, Order: order, Limit: 1})
		if err != nil {
			return state, err
		}
		for _, record := range newest {
			for _, at := range []time.Time{record.UpdatedAt, record.FirstSeenAt} {
				if at.After(state.Modified) {
					state.Modified = at
				}
			}
		}
	}
	return state, err
}
