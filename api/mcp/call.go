package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"

	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/nearest"
)

// requestKey is the context key of a request: the SDK detaches handlers from
// the request's cancellation but keeps its values.
type requestKey struct{}

type request struct {
	ctx      context.Context // ends when the client leaves
	view     view
	patience time.Duration // of a call with an index that is loading
}

func withRequest(ctx context.Context, r request) context.Context {
	r.ctx = ctx
	return context.WithValue(ctx, requestKey{}, r)
}

func requestOf(ctx context.Context) request {
	r, ok := ctx.Value(requestKey{}).(request)
	if !ok {
		return request{ctx: ctx}
	}
	return r
}

// narrow lists tools in the order of the operations, hides those outside the
// client's view, and refuses methods that the SDK accepts but that do nothing
// here.
func (s *Server) narrow(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if !s.serves(method) {
			return nil, notServed(method)
		}
		v := requestOf(ctx).view
		if method == "resources/list" {
			return s.listResources(ctx, func() (sdk.Result, error) { return next(ctx, method, r) })
		}
		switch params := r.GetParams().(type) {
		case *sdk.ListToolsParams:
			return s.listTools(ctx, v, params)
		case *sdk.CallToolParamsRaw:
			t, ok := s.tools.byName[params.Name]
			if !ok || !v.has(t.op) {
				return nil, s.unknownTool(params.Name, v)
			}
		}
		res, err := next(ctx, method, r)
		if err == nil {
			s.instruct(ctx, res)
		}
		return res, err
	}
}

// instruct tells a client that connects what is there now.
func (s *Server) instruct(ctx context.Context, res sdk.Result) {
	if s.cfg.Instructions == nil {
		return
	}
	switch res := res.(type) {
	case *sdk.InitializeResult:
		res.Instructions = s.cfg.Instructions(ctx)
	case *sdk.DiscoverResult:
		res.Instructions = s.cfg.Instructions(ctx)
	}
}

func notServed(method string) *jsonrpc.Error {
	return failure(jsonrpc.CodeMethodNotFound, "method %s is not served here", op.Quote(method))
}

// serves reports whether a client may call a method.
func (s *Server) serves(method string) bool {
	switch method {
	case "prompts/list", "prompts/get":
		return len(s.cfg.Prompts) > 0
	}
	return served[method]
}

// served are the methods of every server. Completion, logging and subscriptions to
// resources are not among them.
var served = map[string]bool{
	"initialize": true, "ping": true, "server/discover": true, "subscriptions/listen": true,
	"tools/list": true, "tools/call": true,
	"resources/list": true, "resources/read": true, "resources/templates/list": true,
	"notifications/initialized": true, "notifications/cancelled": true,
	"notifications/progress": true, "notifications/roots/list_changed": true,
}

// listTools lists the tools of a view that have records to answer from, and those that it names.
func (s *Server) listTools(ctx context.Context, v view, params *sdk.ListToolsParams) (sdk.Result, error) {
	if params != nil && params.Cursor != "" {
		return nil, failure(jsonrpc.CodeInvalidParams, "the list has one page: leave the cursor out")
	}
	var kinds []catalog.Kind // that there are; none: every kind may come
	kept := keepFixed
	if s.cfg.Kinds != nil {
		kinds, kept = s.cfg.Kinds(ctx), keepSnapshot
	}
	res := &sdk.ListToolsResult{Tools: s.tools.list(v, kinds)}
	res.TTLMs, res.CacheScope = int(kept.Milliseconds()), "public"
	return res, nil
}

func (s *Server) unknownTool(name string, v view) error {
	var names []string
	for _, t := range s.tools.all {
		if v.has(t.op) {
			names = append(names, t.op.Tool)
		}
	}
	if near := nearest.Of(name, names); near != "" {
		return failure(jsonrpc.CodeInvalidParams, "unknown tool %s: did you mean %q?", op.Quote(name), near)
	}
	return failure(jsonrpc.CodeInvalidParams, "unknown tool %s; tools/list names the tools", op.Quote(name))
}

// recoverPanics keeps the process alive: the SDK runs handlers on its own
// goroutines, where a panic ends the process.
func (s *Server) recoverPanics(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				s.cfg.Log.ErrorContext(ctx, "panic", "method", op.Cut(method), "error", p, "stack", string(debug.Stack()))
				res, err = nil, failure(jsonrpc.CodeInternalError, "%s", op.Internal(ctx))
			}
		}()
		return next(ctx, method, r)
	}
}

// callTool runs an operation as a tool. Failures are returned as results, for
// models read results but not protocol errors.
func (s *Server) callTool(o op.Operation) sdk.ToolHandler {
	return func(ctx context.Context, r *sdk.CallToolRequest) (res *sdk.CallToolResult, _ error) {
		start, outcome := time.Now(), "ok"
		ctx, called := otel.Tracer("almanac").Start(ctx, "tool "+o.Tool) // over stdio no request is around it
		defer func() {
			called.SetAttributes(attribute.String("outcome", outcome))
			called.End()
		}()
		defer func() {
			if p := recover(); p != nil {
				s.cfg.Log.ErrorContext(ctx, "tool panicked", "tool", o.Tool, "error", p, "stack", string(debug.Stack()))
				res, outcome = failed(internalError(ctx, o)), "panic"
			}
			if s.cfg.Observe != nil {
				s.cfg.Observe(o.Tool, outcome, time.Since(start))
			}
		}()
		ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
		defer cancel()
		defer context.AfterFunc(requestOf(ctx).ctx, cancel)()
		answer, note, err := s.run(ctx, o, r.Params.Arguments)
		if err != nil {
			outcome = "error"
			return failed(s.explain(ctx, o, err)), nil
		}
		res = &sdk.CallToolResult{
			Content:           []sdk.Content{&sdk.TextContent{Text: string(answer)}},
			StructuredContent: json.RawMessage(answer),
		}
		if note != "" {
			res.Content = append(res.Content, &sdk.TextContent{Text: note})
		}
		return res, nil
	}
}

// run answers a call, with a note on what the answer has no room for.
func (s *Server) run(ctx context.Context, o op.Operation, args json.RawMessage) (raw []byte, note string, err error) {
	in, err := o.DecodeTool(args)
	if err != nil {
		return nil, "", err
	}
	if !o.BeforeReady {
		if err := s.cfg.Await(ctx, requestOf(ctx).patience); err != nil {
			return nil, "", err
		}
	}
	answer, err := o.Run(op.Strict(ctx), in)
	if err != nil {
		return nil, "", err
	}
	return o.Fit(in, answer)
}

func failed(message string) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: message}}}
}

// explain returns a sentence on what went wrong and what to do about it.
func (s *Server) explain(ctx context.Context, o op.Operation, err error) string {
	f := o.ExplainTool(err)
	switch {
	case f.Kind == op.ErrInvalid:
		return fmt.Sprintf("Invalid arguments for %s: %s Correct them and call again.", o.Tool, sentence(f.Message))
	case f.Kind == op.ErrNotFound:
		return fmt.Sprintf("%s found nothing: %s", o.Tool, sentence(f.Message))
	case f.Kind == op.ErrUnavailable:
		return fmt.Sprintf("%s cannot answer now: %s Try again in %d s.",
			o.Tool, sentence(f.Message), max(1, int(f.RetryAfter.Seconds())))
	case errors.Is(f.Kind, context.DeadlineExceeded):
		return fmt.Sprintf("%s took longer than %s. Ask for less, or try again later.", o.Tool, s.cfg.Timeout)
	case errors.Is(f.Kind, context.Canceled):
		return o.Tool + " was canceled."
	}
	s.cfg.Log.ErrorContext(ctx, "tool failed", "tool", o.Tool, "error", err)
	return internalError(ctx, o)
}

func internalError(ctx context.Context, o op.Operation) string {
	under := ""
	if id := op.RequestOf(ctx); id != "" {
		under = " under request " + id
	}
	return o.Tool + " failed; the operator's log says why" + under + ". Try another tool, or try again later."
}

// sentence ends a message with a full stop, unless it is punctuated already.
func sentence(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
}
