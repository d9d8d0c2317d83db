// Package api assembles the handlers of the two listeners from the operations
// and the interfaces that serve them. It imports the packages below it; catalog
// and searcher come in through the operations.
package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ulule/limiter/v3"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"almanac/api/admin"
	"almanac/api/dashboard"
	"almanac/api/dashboard/form"
	"almanac/api/describe"
	"almanac/api/limit"
	"almanac/api/mcp"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/api/server"
	"almanac/api/tally"
	"almanac/api/web"
	"almanac/retrieval"
	"almanac/text/webaddress"
)

// Handlers are those of the program's listeners.
type Handlers struct {
	Public, Admin http.Handler
	MCP           *mcp.Server // also for stdio
}

// New assembles the handlers.
func New(cfg Config) (*Handlers, error) {
	cfg.Program = cfg.Program.WithDefaults()
	if cfg.Metrics == nil {
		cfg.Metrics = admin.NewMetrics()
	}
	if cfg.LimitStore == nil {
		cfg.LimitStore = limit.NewStore()
	}
	cfg.PublicURL = strings.TrimSuffix(cfg.PublicURL, "/")
	hosts, err := allowedHosts(cfg)
	if err != nil {
		return nil, err
	}
	proxies, err := limit.ParseProxies(cfg.TrustedProxies)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	bucket := func(name, of string, calls int) *limit.Bucket {
		c := limit.Config{Name: name, Calls: calls, Proxies: proxies, Store: cfg.LimitStore, Log: cfg.Log,
			Refused: cfg.Metrics.Refusals(name)}
		if cfg.LocalFree {
			c.Exempt = server.Local
		}
		if cfg.Loopback && cfg.LimitSetting != nil { // the client is the operator
			c.Setting = cfg.LimitSetting(of)
		}
		return limit.New(c)
	}
	h := &Handlers{}
	calls, connects := bucket("mcp", "mcp", cfg.Limits.MCP), bucket("connect", "mcp", connecting*cfg.Limits.MCP)
	h.MCP, err = mcp.New(mcp.Config{
		Name: "almanac", Version: cfg.Version, Serving: cfg.Serving, Offer: cfg.Offer, Limit: calls, Connect: connects,
		Origins: server.NewOrigins(cfg.AllowedOrigins, cfg.Loopback), Observe: cfg.Metrics.ObserveTool,
	})
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	pages, err := newWeb(cfg, bucket("web", "web", cfg.Limits.Web), bucket("typing", "web", typing*cfg.Limits.Web))
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	over := server.REST{Serving: cfg.Serving, Limit: bucket("rest", "rest", cfg.Limits.REST), PublicURL: cfg.PublicURL,
		Readers: cfg.readers()}
	if over.Operations, over.Description, err = overHTTP(cfg); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	routes := slices.Concat(pages, h.MCP.Routes(), over.Routes())
	// In a bucket of their own: a page may send many.
	routes = append(routes, server.Violations(cfg.Tally, bucket("csp", "web", cfg.Limits.Web)))
	if cfg.Clicks {
		routes = append(routes, server.Clicks(cfg.Tally, bucket("clicks", "web", cfg.Limits.Web)))
	}
	public := server.Config{Routes: routes, Observe: cfg.Metrics.ObserveRequest, Log: cfg.Log}
	if cfg.Loopback {
		public.Check = server.Hosts(hosts)
	}
	if h.Public, err = server.New(public); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	h.Public = identified(cfg.Metrics, proxies, cfg.Audience, h.Public)
	private := admin.Config{
		Metrics: cfg.Metrics, Loopback: cfg.AdminLoopback, AllowedHosts: cfg.AllowedHosts, Token: cfg.AdminToken,
		Failures: limit.New(limit.Config{Name: "login", Calls: failedLogins, Proxies: proxies, Store: cfg.LimitStore,
			Log: cfg.Log, Refused: cfg.Metrics.Refusals("login")}),
		Proxies: proxies,
		Routes:  []server.Route{engines(cfg)}, Log: cfg.Log,
	}
	if cfg.Dashboard.Store != nil {
		d, err := dashboard.New(cfg.Dashboard)
		if err != nil {
			return nil, fmt.Errorf("api: %w", err)
		}
		private.Routes, private.Front = append(private.Routes, d.Routes()...), d
	}
	if h.Admin, err = admin.New(private); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	return h, nil
}

// failedLogins is how many attempts to log in to the admin listener a client may
// fail in limit.Period.
const failedLogins = 20

// connecting is how many more messages a client may send to connect than to call, as a
// factor.
const connecting = 10

// typing is how many more fragments a page may ask for while one types in it than
// pages a client may open, as a factor: a query is 30 letters.
const typing = 10

// identified names the request to logs and answers, and the client to the admission and
// the tally of searches. It counts the requests under way, and tells the audience
// what came through a proxy.
func identified(m *admin.Metrics, proxies limit.Proxies, audience *server.Audience, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer m.Begin()()
		audience.See(r)
		id := r.Header.Get(op.RequestHeader)
		if !proxies.Trusts(r) || !op.ValidRequest(id) {
			id = op.NewRequest()
		}
		w.Header().Set(op.RequestHeader, id)
		client := proxies.Client(r)
		ctx, s := traced(r, proxies.Trusts(r))
		s.SetAttributes(attribute.String("request.id", id))
		defer s.End()
		ctx = tally.WithClient(op.WithRequest(ctx, id), limit.Site(client))
		ctx = limit.WithClient(ctx, limit.Key(client))
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// traced begins the span of a request. The trace that its header names is continued if whoever sent it is trusted, and
// otherwise linked: a stranger must not decide what is recorded.
func traced(r *http.Request, trusted bool) (context.Context, trace.Span) {
	ctx, o := r.Context(), []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	sent := propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	if trusted {
		ctx = sent
	} else if from := trace.SpanContextFromContext(sent); from.IsValid() {
		o = append(o, trace.WithLinks(trace.Link{SpanContext: from}))
	}
	return otel.Tracer("almanac").Start(ctx, "request", o...)
}

// allowedHosts are the names a loopback listener accepts in the Host header;
// behind a proxy on this machine that is the public one.
func allowedHosts(cfg Config) ([]string, error) {
	if cfg.PublicURL == "" {
		return cfg.AllowedHosts, nil
	}
	u, err := webaddress.Parse(cfg.PublicURL)
	if err != nil {
		return nil, errors.New("api: the public URL must be http:// or https:// with a host")
	}
	return append(slices.Clone(cfg.AllowedHosts), u.Host), nil
}

// NewServer returns an HTTP server with limits for a public listener: slow or
// huge headers, slow bodies and idle connections are cut off. The caller sets
// writeTimeout (0 = none), as profiles of the admin listener take 30 s and more.
func NewServer(h http.Handler, writeTimeout time.Duration, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second, // of at most mcp.MaxBody
		WriteTimeout:      writeTimeout,
		IdleTimeout:       2 * time.Minute,
		// More than server.MaxURL, so that an address that is too long is refused with
		// JSON. All connections that Connections allows may hold as much at once, and
		// that must fit into memory.
		MaxHeaderBytes: 48 << 10,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug), // mostly malformed requests of strangers
	}
}

// Config of the handlers.
type Config struct {
	meta.Program
	web.Site
	mcp.Offer
	Dashboard form.Config // without a Store there is none
	PublicURL string      // {base_url}: https://kb.example.org

	// Loopback and AdminLoopback mean that the listener is only reachable from
	// this machine: Host headers are checked. Otherwise AdminToken is required.
	Loopback, AdminLoopback bool
	AdminToken              string
	AllowedHosts            []string // besides PublicURL's
	AllowedOrigins          []string // pages that may use /mcp, and read
	TrustedProxies          []string // addresses and networks
	// Audience says whether others reach the service, and so whether any page may read; nil:
	// only pages that may use /mcp.
	Audience *server.Audience

	Limits Limits
	// LimitSetting says how the operator changes a limit (rest, mcp, web), for
	// refusals on a loopback listener; nil: they say nothing of it.
	LimitSetting func(limit string) string
	// LocalFree means that calls from this machine, which no proxy passed on, are not
	// counted.
	LocalFree bool
	// LimitStore is shared by all buckets; nil = one in memory.
	LimitStore limiter.Store

	Metrics *admin.Metrics
	// Tally takes the violations of the content security policy, and the clicks that pages
	// report; nil: they are not counted.
	Tally *tally.Tally
}

// readers are the origins whose pages may read answers.
func (c Config) readers() server.Origins { return c.Audience.Readers(c.AllowedOrigins, c.Loopback) }

// Limits are the calls a client has in limit.Period; 0 = no limit.
type Limits struct{ REST, MCP, Web int }

// overHTTP are the operations that REST serves, probes too, and the description of
// them.
func overHTTP(cfg Config) (served []op.Operation, description []byte, err error) {
	served = append(slices.Clone(cfg.Operations), meta.Probes(cfg.Program)...)
	description, err = describe.OpenAPI(describe.Service{
		Title: title(cfg.Name), Description: cfg.About, PublicURL: cfg.PublicURL, Operations: served,
		Groups: Groups(), Exact: exactNames,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("describe the operations: %w", err)
	}
	return served, description, nil
}

// Health reports the readiness of a searcher and the engines that do not
// answer.
func Health(s retrieval.Searcher) (ready func() (bool, float64), down func() []retrieval.Down) {
	ready = func() (bool, float64) {
		st := s.Status(context.Background())
		return st.Ready, st.Progress
	}
	return ready, func() []retrieval.Down { return s.Status(context.Background()).Down }
}

// engines tells the operator why engines, or the catalog, do not answer.
func engines(cfg Config) server.Route {
	type engine struct {
		Engine string `json:"engine"`
		Reason string `json:"reason"`
	}
	return server.Route{Method: http.MethodGet, Path: "/engines", Serve: func(r *http.Request) (*server.Answer, error) {
		list := []engine{}
		if err := cfg.Catalog(r.Context()); err != nil {
			list = append(list, engine{"catalog", err.Error()})
		}
		for _, d := range cfg.Down() {
			list = append(list, engine{d.Engine, d.Reason})
		}
		body, err := op.Encode(map[string]any{"down": list})
		return &server.Answer{Type: server.JSONType, Body: body}, err
	}}
}

// newWeb makes the pages for people.
func newWeb(cfg Config, visits, typing *limit.Bucket) ([]server.Route, error) {
	site := cfg.Site
	name, _, _ := strings.Cut(site.Name, " (")
	site.Name = cmp.Or(name, "The network")
	pages, err := web.New(web.Config{
		Serving: cfg.Serving, Site: site, PublicURL: cfg.PublicURL, Version: cfg.Version,
		Readers: cfg.readers(), Limit: visits, Typing: typing, Protocols: mcp.Versions,
		Reference: describe.Reference(describe.Service{PublicURL: cfg.PublicURL, Operations: cfg.Operations,
			Groups: Groups()}),
	})
	if err != nil {
		return nil, err
	}
	return pages.Routes(), nil
}
