package rest

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"

	"almanac/api/guard"
	"almanac/api/op"
)

// statusOf maps the kinds of failure; anything else is 500.
var statusOf = map[error]int{
	op.ErrInvalid:            http.StatusBadRequest,
	op.ErrNotFound:           http.StatusNotFound,
	op.ErrUnavailable:        http.StatusServiceUnavailable,
	context.DeadlineExceeded: http.StatusGatewayTimeout,
}

// fail writes an error. A cancelled request (the client left) is 499, not an
// error of the server.
func (h *Handler) fail(x *request, err error) {
	switch {
	case x.r.Context().Err() != nil:
		x.status = statusClientGone
		x.w.WriteHeader(x.status)
		return
	case errors.Is(err, errTooLarge):
		x.refuse(http.StatusRequestEntityTooLarge, err.Error())
		return
	case errors.Is(err, errWrongType):
		x.refuse(http.StatusUnsupportedMediaType, err.Error())
		return
	}
	f := op.Explain(err)
	status, ok := statusOf[f.Kind]
	if !ok {
		status = http.StatusInternalServerError
		f.Message = op.Internal(x.r.Context())
		h.cfg.Log.ErrorContext(x.r.Context(), "operation failed", "route", x.route, "error", err)
	}
	if status == http.StatusServiceUnavailable {
		x.w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(f.RetryAfter.Seconds())))))
	}
	x.refuse(status, f.Message)
}

// refuse writes {"error"}, unless an answer has been started already.
func (x *request) refuse(status int, message string) {
	x.status = status
	if x.gin.Writer.Written() {
		return
	}
	if x.r.Method == http.MethodHead {
		guard.Refuse(headWriter{x.w}, status, message)
		x.gin.Writer.WriteHeaderNow() // or gin adds a text
		return
	}
	guard.Refuse(x.w, status, message)
}

// headWriter drops the body.
type headWriter struct{ http.ResponseWriter }

func (headWriter) Write(b []byte) (int, error) { return len(b), nil }

func (h *Handler) noRoute(x *request) {
	if !h.cfg.Limit.Take(x.w, x.r) {
		x.status = http.StatusTooManyRequests
		return
	}
	x.refuse(http.StatusNotFound, "no such endpoint; GET /api/v1 lists them")
}

// noMethod answers CORS preflights and refuses the rest. gin has set the Allow
// header.
func (h *Handler) noMethod(x *request) {
	allow := x.w.Header().Get("Allow")
	if x.r.Method == http.MethodOptions {
		head := x.w.Header()
		head.Set("Allow", allow+", OPTIONS")
		head.Set("Access-Control-Allow-Methods", allow)
		head.Set("Access-Control-Allow-Headers", "Accept, Authorization, Content-Type, If-None-Match")
		head.Set("Access-Control-Max-Age", "86400")
		x.status = http.StatusNoContent
		x.w.WriteHeader(x.status)
		x.gin.Writer.WriteHeaderNow()
		return
	}
	if !h.cfg.Limit.Take(x.w, x.r) {
		x.status = http.StatusTooManyRequests
		return
	}
	x.refuse(http.StatusMethodNotAllowed, op.Cut(x.r.Method)+" is not allowed here; allowed: "+allow)
}
