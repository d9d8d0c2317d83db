package rest

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"almanac/api/op"
)

// statusClientGone is logged and counted if the client left before the answer;
// nginx made the number common.
const statusClientGone = 499

// request is one request and the status of its answer.
type request struct {
	gin    *gin.Context
	r      *http.Request
	w      http.ResponseWriter
	route  string
	status int
}

// handle adds common headers, recovery, log and metrics.
func (h *Handler) handle(serve func(*request)) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		x := &request{gin: c, r: c.Request, w: c.Writer}
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler { //nolint:errorlint // as net/http does
					panic(p)
				}
				h.cfg.Log.ErrorContext(x.r.Context(), "panic", "route", x.route, "error", p, "stack", string(debug.Stack()))
				x.refuse(http.StatusInternalServerError, op.Internal(x.r.Context()))
			}
			took := time.Since(start)
			if h.cfg.Observe != nil {
				h.cfg.Observe(x.r.Method, x.route, x.status, took)
			}
			// The query is left out: it may hold secrets of its author.
			h.cfg.Log.DebugContext(x.r.Context(), "request", "method", op.Cut(x.r.Method), "route", x.route, "status", x.status,
				"took", took, "bytes", c.Writer.Size())
		}()
		setCommonHeaders(c.Writer.Header())
		serve(x)
	}
}

// serve handles a known route.
func (h *Handler) serve(x *request, rt *route) {
	x.route = rt.pattern
	if rt.probe {
		x.w.Header().Set("Connection", "close") // what nothing counts keeps no connection
	}
	if !rt.probe && !h.cfg.Limit.Take(x.w, x.r) {
		x.status = http.StatusTooManyRequests
		return
	}
	if len(x.r.URL.Path)+len(x.r.URL.RawQuery) > MaxURL {
		x.refuse(http.StatusRequestURITooLong, "the address must be at most 32 KiB long")
		return
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), h.cfg.Timeout)
	defer cancel()
	if !rt.early {
		if err := h.cfg.Await(ctx, 0); err != nil {
			h.fail(x, err)
			return
		}
	}
	if len(rt.forms) > 1 {
		x.w.Header().Add("Vary", "Accept")
	}
	chosen := chooseType(x.r.Header.Values("Accept"), rt.forms)
	answer, err := rt.run(ctx, x.r, x.params(), chosen)
	if err != nil {
		h.fail(x, err)
		return
	}
	if answer.next != "" {
		x.w.Header().Set("Link", "<"+h.cfg.PublicURL+answer.next+`>; rel="next"`)
	}
	x.reply(answer.body, rt.forms[chosen], h.cfg.PublicURL, rt.probe)
}

// params are the values in the path, unescaped.
func (x *request) params() map[string]string {
	params := make(map[string]string, len(x.gin.Params))
	for _, p := range x.gin.Params {
		v := strings.TrimPrefix(p.Value, "/") // gin keeps it in a *wildcard
		if x.r.URL.RawPath != "" {
			if u, err := url.PathUnescape(v); err == nil {
				v = u
			}
		}
		params[p.Key] = v
	}
	return params
}

// errTooLarge and errWrongType exist only over HTTP.
var (
	errTooLarge  = errors.New("the body must be at most 64 KiB")
	errWrongType = errors.New("Content-Type must be application/json")
)

// forms lists the forms of an operation's answer, JSON first.
func forms(o op.Operation) []op.Form {
	if len(o.Forms) == 1 && o.Forms[0].Only {
		return o.Forms
	}
	return append([]op.Form{{Type: jsonType, Write: op.Encode}}, o.Forms...)
}

// runOperation decodes, runs and encodes.
func runOperation(o op.Operation) func(context.Context, *http.Request, map[string]string, int) (reply, error) {
	write := forms(o)
	return func(ctx context.Context, r *http.Request, params map[string]string, mediaType int) (reply, error) {
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return reply{}, op.Invalid("the query string is malformed: write %% as %%25 and ; as %%3B")
		}
		var body []byte
		if r.Method == http.MethodPost {
			if body, err = readBody(r); err != nil {
				return reply{}, err
			}
		}
		in, err := o.Decode(params, query, body)
		if err != nil {
			return reply{}, err
		}
		answer, err := o.Run(ctx, in)
		if err != nil {
			return reply{}, err
		}
		var out reply
		out.body, err = write[mediaType].Write(answer)
		if next, ok := o.Next(in, answer); ok && r.Method != http.MethodPost {
			out.next, _ = o.Target(next)
		}
		return out, err
	}
}

func readBody(r *http.Request) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, errWrongType
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, MaxBody))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, op.Invalid("the body could not be read")
	}
	return body, nil
}
