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

// statusClientGone is what logs and metrics show where nobody was left to
// answer; nginx made the number common.
const statusClientGone = 499

// exchange is one request and what became of it.
type exchange struct {
	gin    *gin.Context
	r      *http.Request
	w      http.ResponseWriter
	route  string
	status int
}

// handle wraps what all answers have: headers, recovery, log and metrics.
func (h *Handler) handle(serve func(*exchange)) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		x := &exchange{gin: c, r: c.Request, w: c.Writer}
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so
					panic(p)
				}
				h.cfg.Log.Error("rest: panic", "route", x.route, "panic", p, "stack", string(debug.Stack()))
				x.refuse(http.StatusInternalServerError, "internal error")
			}
			took := time.Since(start)
			if h.cfg.Observe != nil {
				h.cfg.Observe(x.r.Method, x.route, x.status, took)
			}
			// The query is left out: it may hold what its author keeps secret.
			h.cfg.Log.Debug("request", "method", x.r.Method, "route", x.route, "status", x.status, "took", took, "bytes", c.Writer.Size())
		}()
		setCommonHeaders(c.Writer.Header())
		serve(x)
	}
}

// serve answers a known route.
func (h *Handler) serve(x *exchange, rt *route) {
	x.route = rt.pattern
	if len(x.r.URL.Path)+len(x.r.URL.RawQuery) > MaxURL {
		x.refuse(http.StatusRequestURITooLong, "the address must be at most 32 KiB long")
		return
	}
	if !rt.free && !h.cfg.Limit.Take(x.w, x.r) {
		x.status = http.StatusTooManyRequests
		return
	}
	if ready, progress := h.cfg.Ready(); !ready && !rt.early {
		h.fail(x, op.Loading(progress))
		return
	}
	ctx, cancel := context.WithTimeout(x.r.Context(), h.cfg.Timeout)
	defer cancel()
	body, err := rt.run(ctx, x.r, x.params())
	if err != nil {
		h.fail(x, err)
		return
	}
	x.reply(body, rt.kind, rt.maxAge)
}

// params are the values in the path, unescaped.
func (x *exchange) params() map[string]string {
	params := make(map[string]string, len(x.gin.Params))
	for _, p := range x.gin.Params {
		v := strings.TrimPrefix(p.Value, "/") // gin leaves it before a *wildcard
		if x.r.URL.RawPath != "" {
			if u, err := url.PathUnescape(v); err == nil {
				v = u
			}
		}
		params[p.Key] = v
	}
	return params
}

// tooLarge and wrongType are refusals that only HTTP knows.
var (
	errTooLarge  = errors.New("the body must be at most 64 KiB")
	errWrongType = errors.New("Content-Type must be application/json")
)

// runOperation decodes, runs and encodes.
func runOperation(o op.Operation) func(context.Context, *http.Request, map[string]string) ([]byte, error) {
	return func(ctx context.Context, r *http.Request, params map[string]string) ([]byte, error) {
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return nil, op.Invalid("the query string is malformed: write %% as %%25 and ; as %%3B")
		}
		var body []byte
		if o.Method == http.MethodPost {
			if body, err = readBody(r); err != nil {
				return nil, err
			}
		}
		in, err := o.Decode(params, query, body)
		if err != nil {
			return nil, err
		}
		answer, err := o.Run(ctx, in)
		if err != nil {
			return nil, err
		}
		return op.Encode(answer)
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
