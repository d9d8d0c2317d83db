package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
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
			e := failure(code, "Resource not found; resources/list names the resources")
			e.Data = data
			return nil, e
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
			return nil, failure(jsonrpc.CodeInternalError, "%s: %s", r.URI, f.Message)
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

// maxArgument is the most that an argument of a prompt may be, in bytes.
const maxArgument = 4 << 10

// addPrompts serves the prompts of the configuration.
func (s *Server) addPrompts() {
	for _, p := range s.cfg.Prompts {
		described := &sdk.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			described.Arguments = append(described.Arguments,
				&sdk.PromptArgument{Name: a.Name, Description: a.Description, Required: a.Missing == ""})
		}
		s.sdk.AddPrompt(described, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			text, err := filled(p, r.Params.Arguments)
			if err != nil {
				return nil, err
			}
			return &sdk.GetPromptResult{Description: p.Description,
				Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}}}, nil
		})
	}
}

// filled is the text of a prompt with arguments in it.
func filled(p op.Prompt, arguments map[string]string) (string, error) {
	pairs := make([]string, 0, 2*len(p.Arguments))
	for _, a := range p.Arguments {
		value := strings.TrimSpace(arguments[a.Name])
		switch {
		case len(value) > maxArgument:
			return "", failure(jsonrpc.CodeInvalidParams, "%s may have %d bytes at most", a.Name, maxArgument)
		case value == "" && a.Missing == "":
			return "", failure(jsonrpc.CodeInvalidParams, "%s is required: %s", a.Name, a.Description)
		case value == "":
			value = a.Missing
		}
		pairs = append(pairs, "{"+a.Name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(p.Text), nil
}
