// Package server is where HTTP meets the program. A listener is a table of routes;
// this package alone decides how a request reaches its row and what becomes of the
// answer: 304, 405, 413, HEAD, entity tag, compression, caching and policy. It serves
// operations over REST, and takes what browsers report.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"almanac/api/limit"
	"almanac/api/op"
)

// MaxURL is how long an address may be, in bytes of path and query: 10,000
// characters of a query with each percent-encoded.
const MaxURL = 32 << 10

// Route is a row of a listener's table.
type Route struct {
	Method string // GET has HEAD with it; "" = any
	// Path is /books/{id} or /pages/{path...}; the request has the parameters as
	// PathValue, and a slash at the end makes no difference. "" stands for every path
	// that no other row has.
	Path string
	// When chooses among the rows of one path and method: the first for which it holds
	// answers; nil = always.
	When func(*http.Request) bool
	// Serve returns the answer, or an error that Refuse answers.
	Serve func(*http.Request) (*Answer, error)
	// Gate may refuse a request: what it returns is then the answer, also for methods
	// that the path does not have; nil = the request may pass.
	Gate func(*http.Request) *Answer

	Name    string        // in metrics and the log; "" = Path
	Limit   *limit.Bucket // counts the calls; nil = none
	MaxBody int64         // bytes that are read of a body; see Body
	// Headers adds the headers of every answer, refusals included; nil = none.
	Headers func(http.Header, *http.Request)
	// Refuse makes the answer of an error in a form that the route's clients read; nil
	// = Refusal.
	Refuse func(*http.Request, error) *Answer
	Advice string // what to do instead of another method; "" = the allowed ones are named
	Shared bool   // pages of any origin may ask, which browsers ask about first (CORS)
	Page   bool   // people type the address: one with // or .. in it leads here
}

// Config of a listener.
type Config struct {
	Routes []Route
	// Check refuses requests before they are counted; nil = none.
	Check func(*http.Request) error
	// Observe is called after every answer with the route's name, the status (499:
	// the client left) and the time taken; may be nil.
	Observe func(method, route string, status int, took time.Duration)
	Log     *slog.Logger // nil = none
}

// listener routes by gin. gin keeps a tree for each method, in which a literal of one
// method would not take precedence over a parameter of another. So all paths are in
// one tree, and the method is chosen among the rows of a path.
type listener struct {
	cfg    Config
	engine *gin.Engine
	rows   map[string][]*Route
}

// New makes the handler of a listener. It fails if two rows answer the same.
func New(cfg Config) (h http.Handler, err error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	gin.SetMode(gin.ReleaseMode)
	l := &listener{cfg: cfg, engine: gin.New(), rows: map[string][]*Route{}}
	_ = l.engine.SetTrustedProxies(nil) // fails only on a bad address; see limit.Proxies
	l.engine.RedirectTrailingSlash = false
	l.engine.UseRawPath = true
	l.engine.UnescapePathValues = false // gin would decode + as a space
	defer func() {                      // gin panics on paths that conflict
		if p := recover(); p != nil {
			h, err = nil, fmt.Errorf("server: %v", p)
		}
	}()
	for i := range cfg.Routes {
		rt := &cfg.Routes[i]
		rows := l.rows[rt.Path]
		if slices.ContainsFunc(rows, func(o *Route) bool { return o.Method == rt.Method && o.When == nil }) {
			return nil, fmt.Errorf("server: two routes have %s %s", rt.Method, rt.Path)
		}
		if rows == nil && rt.Path != "" {
			l.engine.Handle(anyMethod, ginPath(rt.Path), l.choose(rt.Path), l.observe, l.limit, l.serve)
		}
		l.rows[rt.Path] = append(rows, rt)
	}
	l.engine.NoRoute(l.clean, l.choose(""), l.observe, l.limit, l.serve)
	return l, nil
}

// ginPath writes {id} as :id and {id...} as *id.
func ginPath(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, "{"); ok {
			segments[i] = ":" + strings.TrimSuffix(name, "}")
			if rest, ok := strings.CutSuffix(name, "...}"); ok {
				segments[i] = "*" + rest
			}
		}
	}
	return strings.Join(segments, "/")
}

// ChooseType returns the index of the media type that a request prefers (RFC 9110
// 12.5.1), the first of equals. A client that accepts none of them gets the first:
// an answer in another type is better than none.
func ChooseType(r *http.Request, types ...string) int {
	best, most := 0, 0.0
	for i, t := range types {
		if weight, _ := Accepts(r, t); weight > most {
			best, most = i, weight
		}
	}
	return best
}

// Accepts returns the weight of a media type by the most specific range of a
// request, and whether that names the type itself.
func Accepts(r *http.Request, mediaType string) (weight float64, named bool) {
	name, _, _ := mime.ParseMediaType(mediaType)
	major, _, _ := strings.Cut(name, "/")
	specificity := -1
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		at := -1
		switch {
		case err != nil:
		case media == name:
			at = 2
		case media == major+"/*":
			at = 1
		case media == "*/*":
			at = 0
		}
		if at <= specificity {
			continue
		}
		specificity, weight = at, 1
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			weight = q
		}
	}
	return weight, specificity == 2
}

// anyMethod is the method of gin's only tree.
const anyMethod = "ANY"

// arrival is what a request was before gin routed it; the routed request has it in its
// context.
type arrival struct {
	w      http.ResponseWriter
	method string
	odd    bool // its path was cleaned to find a row
	host   bool // its path begins as an address of another host does
}

type arrivalKey struct{}

func arrivalOf(c *gin.Context) arrival { return c.Request.Context().Value(arrivalKey{}).(arrival) }

// ServeHTTP implements http.Handler.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u, as := *r.URL, arrival{w: w, method: r.Method}
	as.host = strings.HasPrefix(u.Path, "//") || strings.HasPrefix(u.Path, `/\`)
	if len(u.Path) > 1 && u.Path != "//" {
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/"), strings.TrimSuffix(u.RawPath, "/")
	}
	l.route(w, r, &u, as)
}

func (l *listener) route(w http.ResponseWriter, r *http.Request, u *url.URL, as arrival) {
	routed := r.WithContext(context.WithValue(r.Context(), arrivalKey{}, as))
	routed.Method, routed.URL = anyMethod, u
	l.engine.ServeHTTP(w, routed)
}

// clean looks for a row again, by the cleaned path of the request.
func (l *listener) clean(c *gin.Context) {
	as := arrivalOf(c)
	if u := cleaned(c.Request.URL); u != nil && !as.odd {
		as.odd = true
		l.route(c.Writer, c.Request, u, as)
		c.Writer.WriteHeaderNow() // or gin adds a text
		c.Abort()
	}
}

// cleaned is an address without // and .. in its path; nil if that is the same.
func cleaned(u *url.URL) *url.URL {
	escaped := u.EscapedPath()
	to, err := url.Parse(path.Clean(escaped))
	if err != nil || to.EscapedPath() == escaped || !path.IsAbs(to.Path) {
		return nil
	}
	to.RawQuery = u.RawQuery
	return to
}

// visit is the row that answers a request.
type visit struct {
	*Route
	left bool // the client left before it had the answer
}

const visitKey = "visit"

func visitOf(c *gin.Context) *visit { return c.MustGet(visitKey).(*visit) }

// choose finds the row that answers among those of a path.
func (l *listener) choose(path string) gin.HandlerFunc {
	return func(c *gin.Context) {
		as, r, rows := arrivalOf(c), c.Request, l.rows[path]
		r.Method = as.method
		page := path != "" && rows[0].Page && (r.Method == http.MethodGet || r.Method == http.MethodHead)
		if u := cleaned(r.URL); u != nil && page {
			as.odd, r.URL = true, u
		}
		missing := path == "" || as.odd && !page
		if missing {
			rows = l.rows[""]
		}
		rt := pick(rows, r)
		if rt.When == nil && slices.ContainsFunc(rows, func(o *Route) bool { return o.When != nil && o.Method == rt.Method }) {
			c.Writer.Header().Add("Vary", "Accept") // another row answers browsers, and adds it itself
		}
		if as.odd && page {
			rt = rt.instead(&Answer{Status: http.StatusTemporaryRedirect, Goto: r.URL.String()}, nil)
		}
		if as.host && missing { // a script of a page there would take its path for an address
			bare := *rt
			bare.Refuse = nil
			rt = &bare
		}
		if rt.MaxBody > 0 {
			r.Body = http.MaxBytesReader(as.w, r.Body, rt.MaxBody)
		}
		for _, p := range c.Params {
			v := strings.TrimPrefix(p.Value, "/") // gin keeps it in a *wildcard
			if u, err := url.PathUnescape(v); err == nil && r.URL.RawPath != "" {
				v = u
			}
			r.SetPathValue(p.Key, v)
		}
		c.Set(visitKey, &visit{Route: rt})
	}
}

// pick returns the row that answers, or one that refuses as the others of the path
// would.
func pick(rows []*Route, r *http.Request) *Route {
	var allowed []string
	for _, rt := range rows {
		switch {
		case rt.When != nil && !rt.When(r):
		case rt.Method == "", rt.Method == r.Method, rt.Method == http.MethodGet && r.Method == http.MethodHead:
			return rt
		case rt.Method == http.MethodGet:
			allowed = append(allowed, http.MethodGet, http.MethodHead)
		default:
			allowed = append(allowed, rt.Method)
		}
	}
	if len(allowed) == 0 {
		return new(Route).instead(nil, op.NotFound("there is no such page"))
	}
	rt, methods := rows[len(rows)-1], strings.Join(allowed, ", ")
	if rt.Shared && r.Method == http.MethodOptions {
		rt = rt.instead(Preflight(methods, "Accept, Authorization, Content-Type, If-None-Match"), nil)
		rt.Limit = nil
		return rt
	}
	return rt.instead(nil, NotAllowed(r, methods, rt.Advice))
}

// instead is the row with another answer.
func (rt Route) instead(a *Answer, err error) *Route {
	rt.Serve = func(*http.Request) (*Answer, error) { return a, err }
	return &rt
}

// observe counts and logs the answer, and makes one of a panic.
func (l *listener) observe(c *gin.Context) {
	start, v, r := time.Now(), visitOf(c), c.Request
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // as net/http does
				panic(p)
			}
			l.cfg.Log.ErrorContext(r.Context(), "panic", "route", v.Path, "error", p, "stack", string(debug.Stack()))
			l.refuse(c, errors.New("panic"))
		}
		status, took, name := c.Writer.Status(), time.Since(start), cmp.Or(v.Name, v.Path)
		if v.left {
			status = statusLeft
		}
		c.Status(status)
		c.Writer.WriteHeaderNow() // or gin adds a text
		tell(trace.SpanFromContext(r.Context()), op.Cut(r.Method), name, status)
		if l.cfg.Observe != nil {
			l.cfg.Observe(r.Method, name, status, took)
		}
		// The query is left out: it may hold secrets of its author.
		l.cfg.Log.DebugContext(r.Context(), "request", "method", op.Cut(r.Method), "route", name, "status", status,
			"took", took, "bytes", c.Writer.Size())
	}()
	Protect(c.Writer.Header())
	if l.cfg.Check != nil {
		if err := l.cfg.Check(r); err != nil {
			l.refuse(c, err)
			c.Abort()
			return
		}
	}
	if v.Headers != nil {
		v.Headers(c.Writer.Header(), r)
	}
	c.Next()
}

// tell names the span of a request by its row: an address may hold secrets.
func tell(s trace.Span, method, route string, status int) {
	s.SetName(method + " " + route)
	s.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		s.SetStatus(codes.Error, http.StatusText(status))
	}
}

// statusLeft is counted if the client left before the answer; nginx made the
// number common.
const statusLeft = 499

// limit counts the call.
func (l *listener) limit(c *gin.Context) {
	if text, wait := visitOf(c).Limit.Take(c.Writer.Header(), c.Request); text != "" {
		l.refuse(c, &Refusal{Status: http.StatusTooManyRequests, Message: text, Wait: wait})
		c.Abort()
	}
}

func (l *listener) serve(c *gin.Context) {
	v, r := visitOf(c), c.Request
	if v.Gate != nil {
		if a := v.Gate(r); a != nil {
			l.write(c, a)
			return
		}
	}
	if len(r.URL.Path)+len(r.URL.RawQuery) > MaxURL {
		l.refuse(c, &Refusal{Status: http.StatusRequestURITooLong, Message: "the address must be at most 32 KiB long"})
		return
	}
	a, err := v.Serve(r)
	if err != nil {
		l.refuse(c, err)
		return
	}
	l.write(c, a)
}

// refuse answers with an error, unless the client left or an answer has begun.
func (l *listener) refuse(c *gin.Context, err error) {
	v, r := visitOf(c), c.Request
	if v.left = r.Context().Err() != nil; v.left || c.Writer.Written() {
		return
	}
	f := Explain(r.Context(), err)
	if f.Wait > 0 {
		c.Writer.Header().Set("Retry-After", strconv.Itoa(f.Wait))
	}
	if f.Allow != "" {
		c.Writer.Header().Set("Allow", f.Allow)
	}
	a := f.JSON()
	if v.Refuse != nil {
		a = v.Refuse(r, err)
	}
	if a.Status == http.StatusInternalServerError {
		l.cfg.Log.ErrorContext(r.Context(), "request failed", "route", v.Path, "error", err)
	}
	l.write(c, a)
}

func (l *listener) write(c *gin.Context, a *Answer) {
	if err := a.write(c.Writer, c.Request); err != nil {
		visitOf(c).left = c.Request.Context().Err() != nil
	}
}
