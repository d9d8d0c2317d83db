package mcp

import (
	"context"
	"encoding/json"
	"fmt"

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
			data, err := json.Marshal(map[string]string{"uri": read.Params.URI})
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
				s.cfg.Log.Error("resource failed", "uri", r.URI, "error", err)
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
