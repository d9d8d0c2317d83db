// Package meta holds the operations on the service itself: the index of its
// endpoints and the catalog of its sources, and the resources that describe
// it. It imports kb, op and mcp.
package meta

import (
	"context"
	"slices"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

const group = "meta"

type service struct {
	kb.Base
	operations func() []op.Operation
}

// Operations returns the group's operations; all tells the operations that
// the index lists.
func Operations(b kb.Base, all func() []op.Operation) []op.Operation {
	s := service{b, all}
	return []op.Operation{
		op.New(op.Spec{ID: "get_index", Group: group, Path: "/api/v1", BeforeReady: true, Summary: "Every endpoint, and where the descriptions of them are."}, s.index),
		op.New(op.Spec{ID: "list_sources", Group: group, Path: "/api/v1/sources", Summary: "What is indexed, by kind, and how fresh it is."}, s.sources),
		op.New(op.Spec{ID: "get_status", Group: group, Path: "/status", BeforeReady: true, Summary: "What works: index, engines and sources."}, s.status),
	}
}

// Index lists the endpoints.
type Index struct {
	Name        string     `json:"name"`
	Network     string     `json:"network"`
	Description string     `json:"description"`
	OpenAPI     string     `json:"openapi" format:"uri"`
	MCP         string     `json:"mcp" format:"uri"`
	Endpoints   []Endpoint `json:"endpoints"`
}

// Endpoint is one REST operation.
type Endpoint struct {
	Method     string   `json:"method"`
	Path       string   `json:"path"`
	Summary    string   `json:"summary"`
	Parameters []string `json:"parameters"`
	Group      string   `json:"group"`
}

func (s service) index(context.Context, struct{}) (Index, error) {
	x := Index{Name: "almanac", Network: s.Network.Title, Description: s.Network.Description, OpenAPI: s.PublicURL + "/api/v1/openapi.json",
		MCP: s.PublicURL + "/mcp"}
	for _, o := range s.operations() {
		if o.Path == "" {
			continue
		}
		e := Endpoint{Method: o.Method, Path: strings.ReplaceAll(o.Path, "...}", "}"), Summary: o.Summary, Group: o.Group}
		for _, p := range o.Params {
			if p.REST {
				e.Parameters = append(e.Parameters, p.Name)
			}
		}
		x.Endpoints = append(x.Endpoints, e)
	}
	x.Endpoints = append(x.Endpoints,
		Endpoint{Method: "GET", Path: "/api/v1/openapi.json", Summary: "The OpenAPI 3.1 description of these endpoints.", Group: group},
		Endpoint{Method: "GET", Path: "/health", Summary: "Whether the service runs, and how many tools it has.", Group: group},
		Endpoint{Method: "GET", Path: "/ready", Summary: "Whether the first index is complete.", Group: group})
	return x, nil
}

// SourcesResponse is the catalog of sources: one row per kind of content.
type SourcesResponse struct {
	TotalRecords int      `json:"total_records"`
	SourceCount  int      `json:"source_count"`
	Sources      []Source `json:"sources"`
}

// Source is one kind of content. Where several sources feed a kind, the row
// has the oldest last success and the largest age of them.
type Source struct {
	Type             string     `json:"type"`
	Desc             string     `json:"desc"`
	Count            int        `json:"count"`
	LastSynced       *time.Time `json:"last_synced" format:"date-time" doc:"last successful sync; null before the first"`
	LastRun          *time.Time `json:"last_run"`
	AgeSeconds       *int64     `json:"age_seconds"`
	FreshnessSeconds *int64     `json:"freshness_threshold_seconds" doc:"older than this is stale; null where nothing is promised"`
	Stale            bool       `json:"stale"`
	Error            *string    `json:"error" doc:"of the last run, where it failed"`
	Names            []string   `json:"names" doc:"sources that feed it: values of search's source"`
}

func (s service) sources(ctx context.Context, _ struct{}) (SourcesResponse, error) {
	counts, err := s.Catalog.Counts(ctx)
	if err != nil {
		return SourcesResponse{}, err
	}
	states, err := s.Catalog.Sources(ctx)
	if err != nil {
		return SourcesResponse{}, err
	}
	byName := map[string]catalog.SourceState{}
	for _, st := range states {
		byName[st.Name] = st
	}
	var releases []string // what derived records are made of
	for _, c := range counts {
		if c.Kind == catalog.KindRelease && !slices.Contains(releases, c.Source) {
			releases = append(releases, c.Source)
		}
	}
	out := SourcesResponse{}
	for _, info := range catalog.Kinds {
		row := Source{Type: string(info.Kind), Desc: info.Description}
		if d := s.Network.Descriptions[string(info.Kind)]; d != "" {
			row.Desc = d
		}
		seen := map[string]bool{}
		for _, c := range counts {
			if c.Kind != info.Kind {
				continue
			}
			row.Count += c.N
			if !seen[c.Source] {
				seen[c.Source] = true
				row.Names = append(row.Names, c.Source)
				if c.Source != catalog.DerivedSource {
					s.age(&row, byName[c.Source])
					continue
				}
				for _, name := range releases {
					s.age(&row, byName[name])
				}
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

// age adds one source's freshness to a row.
func (s service) age(row *Source, st catalog.SourceState) {
	if run := kb.Time(st.LastRun); run != nil && (row.LastRun == nil || run.Before(*row.LastRun)) {
		row.LastRun = run
	}
	if st.Error != "" {
		row.Error = new("the last run failed; the operator's log says why") // the message itself may name files and hosts
	}
	if st.LastSuccess.IsZero() {
		return
	}
	if at := kb.Time(st.LastSuccess); row.LastSynced == nil || at.Before(*row.LastSynced) {
		row.LastSynced = at
	}
	age := int64(max(0, s.Now().Sub(st.LastSuccess)) / time.Second)
	if row.AgeSeconds == nil || age > *row.AgeSeconds {
		row.AgeSeconds = &age
	}
	if st.Freshness > 0 {
		limit := int64(st.Freshness / time.Second)
		if row.FreshnessSeconds == nil || limit < *row.FreshnessSeconds {
			row.FreshnessSeconds = &limit
		}
		row.Stale = row.Stale || age > limit
	}
}
