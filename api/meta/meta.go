// Package meta holds the operations on the service itself: its endpoints, its
// sources and its health, and the resources that describe it.
package meta

import (
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
	Type             string     `json:"type"`
	Desc             string     `json:"desc"`
	Count            int        `json:"count"`
	LastSynced       *time.Time `json:"last_synced" format:"date-time" doc:"last success; null before the first"`
	LastRun          *time.Time `json:"last_run"`
	AgeSeconds       *int64     `json:"age_seconds"`
	FreshnessSeconds *int64     `json:"freshness_threshold_seconds" doc:"older is stale; null: no threshold"`
	Stale            bool       `json:"stale"`
	Error            *string    `json:"error" doc:"of the last run, if it failed"`
	Names            []string   `json:"names" doc:"sources that feed it: values of search's source"`
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
	byName := map[string]catalog.SourceState{}
	for _, st := range states {
		byName[st.Name] = st
	}
	out := SourcesResponse{}
	for _, info := range catalog.Kinds {
		row := Source{Type: string(info.Kind), Desc: info.Description}
		if d := b.Network.Descriptions[string(info.Kind)]; d != "" {
			row.Desc = d
		}
		row.Names, row.Count = feeding(counts, info.Kind)
		for _, name := range row.Names {
			origins := []string{name}
			if name == catalog.DerivedSource { // derived records come from release notes
				origins, _ = feeding(counts, catalog.KindRelease)
			}
			for _, origin := range origins {
				age(b, &row, byName[origin])
			}
		}
		if row.Count > 0 {
			out.Sources = append(out.Sources, row)
			out.TotalRecords += row.Count
		}
	}
	out.SourceCount = len(out.Sources)
	return out, nil
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

// age adds one source's freshness to a row.
func age(b kb.Base, row *Source, st catalog.SourceState) {
	if run := kb.Time(st.LastRun); run != nil && (row.LastRun == nil || run.Before(*row.LastRun)) {
		row.LastRun = run
	}
	if st.Error != "" {
		row.Error = new("the last run failed; the operator's log says why") // the message may name files and hosts
	}
	if st.LastSuccess.IsZero() {
		return
	}
	if at := kb.Time(st.LastSuccess); row.LastSynced == nil || at.Before(*row.LastSynced) {
		row.LastSynced = at
	}
	age := int64(max(0, b.Now().Sub(st.LastSuccess)) / time.Second)
	if row.AgeSeconds == nil || age > *row.AgeSeconds {
		row.AgeSeconds = &age
	}
	limit := int64(st.Freshness / time.Second)
	if limit > 0 && (row.FreshnessSeconds == nil || limit < *row.FreshnessSeconds) {
		row.FreshnessSeconds = &limit
	}
	row.Stale = row.Stale || st.Stale(b.Now())
}
