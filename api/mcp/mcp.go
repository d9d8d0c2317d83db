// Package mcp serves operations as tools of the Model Context Protocol, over
// stateless streamable HTTP and over stdio. The protocol is the SDK's; this
// package decides what is listed, turns the SDK's plain-text errors and panics
// into JSON-RPC errors, and maps errors of operations.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"almanac/api/limit"
	"almanac/api/op"
	"almanac/api/server"
)

// Versions are the supported versions of the protocol, newest first.
var Versions = []string{"2026-07-28", "2025-11-25", "2025-06-18"}

// firstStateless is the first version whose requests carry what initialize used
// to negotiate, and whose errors have distinct HTTP statuses.
const firstStateless = "2026-07-28"

// MaxBody is the maximum size of a request, in bytes.
const MaxBody = 128 << 10

// Offer is what clients are offered besides tools.
type Offer struct {
	// Instructions are for the model: what the tools offer and how to use them; nil: none.
	Instructions func(context.Context) string
	Prompts      []op.Prompt // none: clients cannot ask for any
	Resources    []op.Resource
}

// Config of a Server.
type Config struct {
	Name, Version string // of the program, for clients
	op.Serving
	Offer
	Origins server.Origins // pages that may call
	// Limit counts every POST except those that only connect, which Connect counts;
	// nil = none.
	Limit, Connect *limit.Bucket
	// Observe is called after every call of a known tool with its outcome (ok,
	// error or panic) and the time taken; may be nil.
	Observe func(tool, outcome string, took time.Duration)
}

// Server is the tool endpoint.
type Server struct {
	cfg   Config
	sdk   *sdk.Server
	tools *toolset
	inner http.Handler // the SDK's
}

// New makes a server. It fails if two tools have the same name, or if the
// answer of one is not a JSON object.
func New(cfg Config) (*Server, error) {
	cfg.Serving = cfg.WithDefaults()
	if cfg.Name == "" || cfg.Version == "" {
		return nil, errors.New("mcp: a server needs a name and a version")
	}
	s := &Server{cfg: cfg}
	var err error
	if s.tools, err = newToolset(cfg.Operations); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	offered := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}}
	if len(cfg.Prompts) > 0 {
		offered.Prompts = &sdk.PromptCapabilities{}
	}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: cfg.Name, Version: cfg.Version}, &sdk.ServerOptions{
		Logger:                    slog.New(slog.DiscardHandler), // it logs mistakes of clients as errors
		SupportedProtocolVersions: Versions,
		SetCacheable:              keep,
		Capabilities:              offered,
	})
	for _, t := range s.tools.all {
		s.sdk.AddTool(t.described, s.callTool(t.op))
	}
	s.addPrompts()
	if err := s.addResources(); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	s.sdk.AddReceivingMiddleware(s.recoverPanics, s.narrow)
	s.inner = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		Stateless:                    true,
		JSONResponse:                 true,
		MaxRequestBodyBytes:          MaxBody,
		PropagateRequestCancellation: true,
		DisableLocalhostProtection:   true, // the listener checks the Host header
	})
	return s, nil
}
