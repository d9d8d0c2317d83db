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
	out := SourcesResponse{Sources: fed(counts, states, b.Now())}
	for i := range out.Sources {
		row := &out.Sources[i]
		row.Desc = cmp.Or(b.Network.Descriptions[row.Type], row.Desc)
		out.TotalRecords += row.Count
	}
	out.SourceCount = len(out.Sources)
	return out, nil
}

// Freshness is how fresh a kind of content is.
type Freshness struct {
	LastSynced       *time.Time `json:"last_synced" format:"date-time" doc:"last success; null before the first"`
	LastRun          *time.Time `json:"last_run"`
	AgeSeconds       *int64     `json:"age_seconds"`
	FreshnessSeconds *int64     `json:"freshness_threshold_seconds" doc:"older is stale; null: no threshold"`
	Stale            bool       `json:"stale"`
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
				row.add(st, now)
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

// add adds the state of one source.
func (s *Source) add(st catalog.SourceState, now time.Time) {
	if st.Error != "" {
		s.Error = new("the last run failed; the operator's log says why") // the message may name files and hosts
	}
	s.LastRun = earlier(s.LastRun, st.LastRun)
	if st.LastSuccess.IsZero() {
		return
	}
	s.LastSynced = earlier(s.LastSynced, st.LastSuccess)
	age := int64(max(0, now.Sub(st.LastSuccess)) / time.Second)
	if s.AgeSeconds == nil || age > *s.AgeSeconds {
		s.AgeSeconds = &age
	}
	limit := int64(st.Freshness / time.Second)
	if limit > 0 && (s.FreshnessSeconds == nil || limit < *s.FreshnessSeconds) {
		s.FreshnessSeconds = &limit
	}
	s.Stale = s.Stale || st.Stale(now)
}

// earlier returns the earlier of two times in UTC; nil and zero are unknown.
func earlier(known *time.Time, t time.Time) *time.Time {
	if t = t.UTC(); t.IsZero() || known != nil && !t.Before(*known) {
		return known
	}
	return &t
}
