// Package meta holds the operations on the service itself: its endpoints, its
// sources and its health, and the resources that describe it.
package meta

import (
	"cmp"
	"context"
	"slices"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
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
	kb.Freshness
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
	out := SourcesResponse{Sources: fed(counts, states, b.Now())}
	for i := range out.Sources {
		row := &out.Sources[i]
		row.Desc = cmp.Or(b.Network.Descriptions[row.Type], row.Desc)
		out.TotalRecords += row.Count
	}
	out.SourceCount = len(out.Sources)
	return out, nil
}

// fed returns the kinds that have records, in the catalog's order. Derived
// records come from release notes: they are as fresh as the releases.
func fed(counts []catalog.Count, states []catalog.SourceState, now time.Time) (out []Source) {
	for _, info := range catalog.Kinds {
		row := Source{Type: string(info.Kind), Desc: info.Description}
		row.Names, row.Count = feeding(counts, info.Kind)
		origins := slices.Clone(row.Names)
		if slices.Contains(origins, catalog.DerivedSource) {
			releases, _ := feeding(counts, catalog.KindRelease)
			origins = append(origins, releases...)
		}
		for _, st := range states {
			if slices.Contains(origins, st.Name) {
				row.Add(st, now)
			}
		}
		if row.Count > 0 {
			out = append(out, row)
		}
	}
	return out
}

// feeding returns the sources of a kind, and how many records it has.
func feeding(counts []catalog.Count, kind catalog.Kind) (names []string, n int) {
	for _, c := range counts {
		if c.Kind != kind {
			continue
		}
		n += c.N
		if !slices.Contains(names, c.Source) {
			names = append(names, c.Source)
		}
	}
	return names, n
}
