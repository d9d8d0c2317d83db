package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"almanac/api/describe"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/api/server"
	"almanac/retrieval"
)

// overHTTP are the operations that REST serves, probes too, and the description of
// them.
func overHTTP(cfg Config) (served []op.Operation, description []byte, err error) {
	served = append(slices.Clone(cfg.Operations), meta.Probes(cfg.Program)...)
	description, err = describe.OpenAPI(describe.Service{
		Title: title(cfg.Name), Description: cfg.About, PublicURL: cfg.PublicURL, Operations: served,
		Groups: Groups(), Exact: exactNames,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("describe the operations: %w", err)
	}
	return served, description, nil
}

// Health reports the readiness of a searcher and the engines that do not
// answer.
func Health(s retrieval.Searcher) (ready func() (bool, float64), down func() []retrieval.Down) {
	ready = func() (bool, float64) {
		st := s.Status(context.Background())
		return st.Ready, st.Progress
	}
	return ready, func() []retrieval.Down { return s.Status(context.Background()).Down }
}

// engines tells the operator why engines, or the catalog, do not answer.
func engines(cfg Config) server.Route {
	type engine struct {
		Engine string `json:"engine"`
		Reason string `json:"reason"`
	}
	return server.Route{Method: http.MethodGet, Path: "/engines", Serve: func(r *http.Request) (*server.Answer, error) {
		list := []engine{}
		if err := cfg.Catalog(r.Context()); err != nil {
			list = append(list, engine{"catalog", err.Error()})
		}
		for _, d := range cfg.Down() {
			list = append(list, engine{d.Engine, d.Reason})
		}
		body, err := op.Encode(map[string]any{"down": list})
		return &server.Answer{Type: server.JSONType, Body: body}, err
	}}
}
