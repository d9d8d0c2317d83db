// Package meta holds the operations on the service itself: its endpoints, its
// sources and its health, and the resources that describe it.
package meta

import (
	"context"

	"almanac/api/kb"
	"almanac/api/op"
)

// Operations are those of the group, in the order clients see them.
var Operations = []kb.Op{sources, status, popular, zero, violations}

// SourcesResponse lists the sources, one row per kind of content. The name is
// published in OpenAPI.
type SourcesResponse struct {
	TotalRecords int      `json:"total_records"`
	SourceCount  int      `json:"source_count"`
	Sources      []Source `json:"sources"`
}

// Source is one kind of content. If several sources feed a kind, the row has
// their oldest last success and largest age.
type Source struct {
	Type  string `json:"type"`
	Desc  string `json:"desc"`
	Count int    `json:"count"`
	Freshness
	Error *string  `json:"error" doc:"of the last run, if it failed"`
	Names []string `json:"names" doc:"sources that feed it: values of search's source"`
}

var sources = kb.New(op.Spec{
	ID: "list_sources", Path: "/api/v1/sources",
	Doc: "What is indexed, by kind, and how fresh it is.",
}, runSources)

func runSources(ctx context.Context, b kb.Base, _ struct{}) (SourcesResponse, error) {
	counts, err := b.Counts(ctx)
	if err != nil {
		return SourcesResponse{}, err
	}
	states, err := b.Catalog.Sources(ctx)
	if err != nil {
		return SourcesResponse{}, err
	}
	out := SourcesResponse{}
	for _, f := range feeds(counts, states, b.Now()) {
		row := Source{string(f.Kind.Kind), f.Kind.Description, f.Count, f.Freshness, nil, f.Sources}
		if d := b.Network.Descriptions[row.Type]; d != "" {
			row.Desc = d
		}
		if f.Failed {
			row.Error = new("the last run failed; the operator's log says why") // the message may name files and hosts
		}
		out.Sources = append(out.Sources, row)
		out.TotalRecords += row.Count
	}
	out.SourceCount = len(out.Sources)
	return out, nil
}
