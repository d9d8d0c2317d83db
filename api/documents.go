package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"almanac/api/edge"
	"almanac/api/op"
	"almanac/api/openapi"
	"almanac/api/rest"
	"almanac/retrieval"
)

// documents are what REST serves besides operations.
func documents(cfg Config) ([]rest.Document, error) {
	description, err := openapi.Document(openapi.Config{
		Title: title(cfg.Name), Description: cfg.Description, PublicURL: cfg.PublicURL, Operations: cfg.Operations,
		Groups: Groups(), Exact: exactNames,
	})
	if err != nil {
		return nil, fmt.Errorf("describe the operations: %w", err)
	}
	return []rest.Document{
		{Path: "/health", Probe: true, Body: liveness(cfg)},
		{Path: "/ready", Probe: true, Body: ready(cfg)},
		{Path: "/api/v1/openapi.json", Body: func(context.Context) ([]byte, error) { return description, nil }},
	}, nil
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

// down names the engines that do not answer, in a form that anybody may read: the
// reasons, which may name hosts, are on the admin listener.
func down(cfg Config) []string {
	list := []string{}
	for _, d := range cfg.Down() {
		list = append(list, d.Engine+" "+d.Public())
	}
	return list
}

// engines tells the operator why engines do not answer.
func engines(cfg Config) edge.Route {
	type engine struct {
		Engine string `json:"engine"`
		Reason string `json:"reason"`
	}
	return edge.Route{Method: http.MethodGet, Path: "/engines", Serve: func(*http.Request) (*edge.Answer, error) {
		list := []engine{}
		for _, d := range cfg.Down() {
			list = append(list, engine{d.Engine, d.Reason})
		}
		body, err := op.Encode(map[string]any{"down": list})
		return &edge.Answer{Type: edge.JSONType, Body: body}, err
	}}
}

// liveness reports that the program runs, from the moment it listens.
func liveness(cfg Config) func(context.Context) ([]byte, error) {
	tools := 0
	for _, o := range cfg.Operations {
		if o.Tool != "" {
			tools++
		}
	}
	start := time.Now()
	return func(context.Context) ([]byte, error) {
		ready, progress := cfg.Ready()
		status := "ok"
		if !ready {
			status = "loading"
		}
		down := down(cfg)
		if ready && len(down) > 0 {
			status = "degraded"
		}
		return op.Encode(struct {
			Status        string   `json:"status"`
			Ready         bool     `json:"ready"`
			Progress      float64  `json:"progress"`
			Down          []string `json:"down"`
			Tools         int      `json:"tools"`
			Version       string   `json:"version"`
			UptimeSeconds int      `json:"uptime_seconds"`
		}{status, ready, progress, down, tools, cfg.Version, int(time.Since(start).Seconds())})
	}
}

// ready reports whether questions are answered: the first index is complete.
// Engines that are down are listed, it answers without them.
func ready(cfg Config) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) {
		if cfg.Draining != nil && cfg.Draining() {
			return nil, op.Unavailable(5*time.Second, "stopping")
		}
		down := down(cfg)
		if ready, progress := cfg.Ready(); !ready {
			return nil, op.Loading(progress, down...)
		}
		return op.Encode(struct {
			Status string   `json:"status"`
			Down   []string `json:"down"`
		}{"ready", down})
	}
}
