package api

import (
	"context"
	"fmt"
	"slices"
	"time"

	"almanac/api/op"
	"almanac/api/openapi"
	"almanac/api/rest"
)

const jsonType = "application/json; charset=utf-8"

// documents are what REST serves besides operations. One that an operation
// serves is left to it.
func documents(cfg Config) ([]rest.Document, error) {
	description, err := openapi.Document(openapi.Config{
		Title: title(cfg), Description: cfg.Description, PublicURL: cfg.PublicURL, Operations: cfg.Operations,
	})
	if err != nil {
		return nil, fmt.Errorf("describe the operations: %w", err)
	}
	all := []rest.Document{
		{Path: "/health", ContentType: jsonType, MaxAge: -1, Free: true, Body: health(cfg)},
		{Path: "/ready", ContentType: jsonType, MaxAge: -1, Free: true, Body: ready(cfg)},
		{Path: "/api/v1", ContentType: jsonType, Body: index(cfg)},
		{Path: "/api/v1/openapi.json", ContentType: jsonType, Body: func(context.Context) ([]byte, error) { return description, nil }},
	}
	return slices.DeleteFunc(all, func(d rest.Document) bool {
		return slices.ContainsFunc(cfg.Operations, func(o op.Operation) bool { return o.Path == d.Path })
	}), nil
}

func title(cfg Config) string {
	if cfg.Name == "" {
		return "almanac"
	}
	return cfg.Name + " knowledge base"
}

// health tells that the program runs; it does so from the moment it listens.
func health(cfg Config) func(context.Context) ([]byte, error) {
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
		down := cfg.Down()
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

// ready tells whether the first index is complete, and what is down: answers
// go on without that, so it is no reason to send clients elsewhere.
func ready(cfg Config) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) {
		down := cfg.Down()
		if ready, progress := cfg.Ready(); !ready {
			return nil, op.Loading(progress, down...)
		}
		return op.Encode(struct {
			Status string   `json:"status"`
			Down   []string `json:"down"`
		}{"ready", down})
	}
}

// index lists the endpoints.
func index(cfg Config) func(context.Context) ([]byte, error) {
	type endpoint struct {
		Method     string   `json:"method"`
		Path       string   `json:"path"`
		Summary    string   `json:"summary"`
		Group      string   `json:"group"`
		Parameters []string `json:"parameters"`
	}
	endpoints := []endpoint{}
	for _, o := range cfg.Operations {
		if o.Path == "" {
			continue
		}
		e := endpoint{Method: o.Method, Path: o.Path, Summary: o.Summary, Group: o.Group}
		for _, p := range o.Params {
			if p.REST {
				e.Parameters = append(e.Parameters, p.Name)
			}
		}
		endpoints = append(endpoints, e)
	}
	return func(context.Context) ([]byte, error) {
		return op.Encode(struct {
			Name      string     `json:"name"`
			Version   string     `json:"version"`
			OpenAPI   string     `json:"openapi"`
			MCP       string     `json:"mcp"`
			Health    string     `json:"health"`
			Endpoints []endpoint `json:"endpoints"`
		}{
			title(cfg), openapi.Version, cfg.PublicURL + "/api/v1/openapi.json",
			cfg.PublicURL + "/mcp", cfg.PublicURL + "/health", endpoints,
		})
	}
}
