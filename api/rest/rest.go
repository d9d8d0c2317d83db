// Package rest serves operations over HTTP: routing, decoding, the choice of a
// media type, caching, compression, and errors. It is the only package that uses
// gin.
package rest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"almanac/api/limit"
	"almanac/api/op"
)

// Limits of a request.
const (
	MaxBody = 64 << 10 // bytes of a POST
	MaxURL  = 32 << 10 // bytes of path and query: 10,000 of a query with each percent-encoded
)

// Config of a Handler.
type Config struct {
	op.Serving
	Documents []Document
	// Limit counts every request but those of free documents; nil = none.
	Limit *limit.Bucket
	// PublicURL begins the addresses in Link headers: https://kb.example.org.
	PublicURL string
	// Observe is called after every answer with the route's pattern ("": no
	// route), the status (499: the client left) and the time taken; may be nil.
	Observe func(method, route string, status int, took time.Duration)
}

// A Document is an answer outside the operations: a description of the API, a
// probe.
type Document struct {
	Path        string
	ContentType string
	Probe       bool // not counted by Limit, and not to be stored
	Body        func(context.Context) ([]byte, error)
}

// Handler is the REST API.
type Handler struct {
	cfg    Config
	engine *gin.Engine
}

// route is what a pattern is routed to.
type route struct {
	pattern string
	probe   bool
	early   bool      // served before the index is ready
	forms   []op.Form // to choose from, the default first; of documents only their types
	run     func(ctx context.Context, r *http.Request, params map[string]string, mediaType int) (reply, error)
}

// reply is a successful answer.
type reply struct {
	body []byte
	next string // address of the next page, relative to the public URL; "" = none
}

// New routes operations and documents. It fails if two have the same path.
func New(cfg Config) (h *Handler, err error) {
	cfg.Serving = cfg.WithDefaults()
	h = &Handler{cfg: cfg, engine: newEngine()}
	defer func() { // gin panics on patterns that conflict
		if p := recover(); p != nil {
			h, err = nil, fmt.Errorf("rest: %v", p)
		}
	}()
	for _, o := range cfg.Operations {
		if o.Path == "" {
			continue
		}
		rt := &route{pattern: o.Path, early: o.BeforeReady, forms: forms(o), run: runOperation(o)}
		h.add(o.Method, rt)
		if o.Post {
			h.add(http.MethodPost, rt)
		}
	}
	for _, d := range cfg.Documents {
		h.add(http.MethodGet, &route{
			pattern: d.Path, probe: d.Probe, early: true, forms: []op.Form{{Type: d.ContentType}},
			run: func(ctx context.Context, _ *http.Request, _ map[string]string, _ int) (reply, error) {
				body, err := d.Body(ctx)
				return reply{body: body}, err
			},
		})
	}
	h.closeFixed()
	h.engine.NoRoute(h.handle(h.noRoute))
	h.engine.NoMethod(h.handle(h.noMethod))
	return h, nil
}

func newEngine() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	_ = e.SetTrustedProxies(nil) // fails only on a bad address; see limit.Proxies
	e.HandleMethodNotAllowed = true
	e.RedirectTrailingSlash = false
	e.UseRawPath = true
	e.UnescapePathValues = false // gin would decode + as a space
	return e
}

// add routes a method; HEAD goes with GET.
func (h *Handler) add(method string, rt *route) {
	serve := h.handle(func(x *request) { h.serve(x, rt) })
	pattern := ginPattern(rt.pattern)
	h.engine.Handle(method, pattern, serve)
	if method == http.MethodGet {
		h.engine.HEAD(pattern, serve)
	}
}

// closeFixed refuses the other methods of paths without parameters: gin would
// pass GET /books/batch to /books/{id}.
func (h *Handler) closeFixed() {
	methods := map[string][]string{}
	for _, r := range h.engine.Routes() {
		if !strings.ContainsAny(r.Path, ":*") {
			methods[r.Path] = append(methods[r.Path], r.Method)
		}
	}
	for path, allowed := range methods {
		slices.Sort(allowed)
		refuse := h.handle(func(x *request) {
			x.w.Header().Set("Allow", strings.Join(allowed, ", "))
			h.noMethod(x)
		})
		for _, method := range []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
			http.MethodOptions, http.MethodTrace,
		} {
			if !slices.Contains(allowed, method) {
				h.engine.Handle(method, path, refuse)
			}
		}
	}
}

// ginPattern writes {id} as :id and {id...} as *id.
func ginPattern(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		name, ok := strings.CutPrefix(s, "{")
		if !ok {
			continue
		}
		name = strings.TrimSuffix(name, "}")
		if rest, ok := strings.CutSuffix(name, "..."); ok {
			segments[i] = "*" + rest
		} else {
			segments[i] = ":" + name
		}
	}
	return strings.Join(segments, "/")
}

// ServeHTTP implements http.Handler. A trailing slash of the path is ignored.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p := r.URL.Path; len(p) > 1 && strings.HasSuffix(p, "/") {
		r2 := new(http.Request)
		*r2 = *r
		u := *r.URL
		u.Path, u.RawPath = strings.TrimSuffix(p, "/"), strings.TrimSuffix(u.RawPath, "/")
		r2.URL = &u
		r = r2
	}
	h.engine.ServeHTTP(w, r)
}
