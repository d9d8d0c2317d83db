package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"almanac/api/op"
)

// codeNoResource is the code for an unknown URI before version 2026-07-28.
const codeNoResource = -32002

func (s *Server) addResources() error {
	seen := map[string]bool{}
	for _, r := range s.cfg.Resources {
		if seen[r.URI] {
			return fmt.Errorf("two resources are at %s", r.URI)
		}
		seen[r.URI] = true
		if r.MIMEType == "" {
			r.MIMEType = "application/json"
		}
		s.sdk.AddResource(&sdk.Resource{
			URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
		}, s.read(r))
	}
	s.sdk.AddReceivingMiddleware(s.checkURI(seen))
	return nil
}

// listResources adds size and time of change to the list of the SDK.
func (s *Server) listResources(ctx context.Context, list func() (sdk.Result, error)) (sdk.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	res, err := list()
	if err != nil {
		return nil, err
	}
	listed, ok := res.(*sdk.ListResourcesResult)
	if !ok {
		return res, nil
	}
	for i, described := range listed.Resources {
		at := slices.IndexFunc(s.cfg.Resources, func(r op.Resource) bool { return r.URI == described.URI })
		if s.cfg.Resources[at].State == nil {
			continue
		}
		state, err := s.cfg.Resources[at].State(ctx)
		if err != nil { // it is listed all the same
			s.cfg.Log.ErrorContext(ctx, "resource has no state", "uri", described.URI, "error", err)
			continue
		}
		with := *described // the SDK's is shared
		with.Size = state.Size
		if !state.Modified.IsZero() {
			with.Annotations = &sdk.Annotations{LastModified: state.Modified.UTC().Format(time.RFC3339)}
		}
		listed.Resources[i] = &with
	}
	return listed, nil
}

// How long clients may keep an answer: what the process holds for an hour,
// snapshots as long as their state is kept.
const (
	keepFixed    = time.Hour
	keepSnapshot = time.Minute
)

// keep sets how long any client may keep an answer.
func keep(_ context.Context, r sdk.Request, c *sdk.Cacheable) {
	ttl := keepFixed
	switch r.(type) {
	case *sdk.ListResourcesRequest, *sdk.ReadResourceRequest:
		ttl = keepSnapshot
	}
	c.TTLMs, c.CacheScope = int(ttl.Milliseconds()), "public"
}

// checkURI refuses an unknown address with the code of the client's version.
func (s *Server) checkURI(known map[string]bool) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			read, ok := r.(*sdk.ReadResourceRequest)
			if !ok || known[read.Params.URI] {
				return next(ctx, method, r)
			}
			code := int64(codeNoResource)
			if read.ProtocolVersion() >= firstStateless {
				code = jsonrpc.CodeInvalidParams
			}
			data, err := json.Marshal(map[string]string{"uri": op.Cut(read.Params.URI)})
			if err != nil {
				return nil, err
			}
			return nil, &jsonrpc.Error{
				Code: code, Message: "Resource not found; resources/list names the resources", Data: data,
			}
		}
	}
}

func (s *Server) read(r op.Resource) sdk.ResourceHandler {
	return func(ctx context.Context, _ *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
		defer cancel()
		defer context.AfterFunc(requestOf(ctx).ctx, cancel)()
		text, err := readText(ctx, r)
		if err != nil {
			f := op.Explain(err)
			if f.Kind == nil {
				s.cfg.Log.ErrorContext(ctx, "resource failed", "uri", r.URI, "error", err)
			}
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: r.URI + ": " + f.Message}
		}
		return &sdk.ReadResourceResult{
			Contents: []*sdk.ResourceContents{{URI: r.URI, MIMEType: r.MIMEType, Text: text}},
		}, nil
	}
}

func readText(ctx context.Context, r op.Resource) (string, error) {
	v, err := r.Read(ctx)
	if err != nil {
		return "", err
	}
	if text, ok := v.(string); ok {
		return text, nil
	}
	raw, err := op.EncodeTool(v)
	return string(raw), err
}
