// Package edge is where HTTP meets the program. A listener is a table of routes;
// this package alone decides how a request reaches its row and what becomes of the
// answer: 304, 405, 413, HEAD, entity tag, compression, caching and policy. It is
// the only package that uses gin; of this module it imports op, limit and span.
package edge

import (
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"almanac/api/limit"
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
			h, err = nil, fmt.Errorf("edge: %v", p)
		}
	}()
	for i := range cfg.Routes {
		rt := &cfg.Routes[i]
		rows := l.rows[rt.Path]
		if slices.ContainsFunc(rows, func(o *Route) bool { return o.Method == rt.Method && o.When == nil }) {
			return nil, fmt.Errorf("edge: two routes have %s %s", rt.Method, rt.Path)
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
