// Package api assembles the handlers of the two listeners from the operations
// and the interfaces that serve them. It imports the packages below it; catalog
// and searcher come in through the operations.
package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"almanac/api/admin"
	"almanac/api/admit"
	"almanac/api/clicks"
	"almanac/api/csp"
	"almanac/api/dashboard"
	"almanac/api/guard"
	"almanac/api/limit"
	"almanac/api/mcp"
	"almanac/api/op"
	"almanac/api/rest"
	"almanac/api/tally"
	"almanac/api/web"
	"almanac/catalog"
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
	cfg.Serving = cfg.WithDefaults()
	if cfg.Metrics == nil {
		cfg.Metrics = admin.NewMetrics()
	}
	if cfg.Down == nil {
		cfg.Down = func() []retrieval.Down { return nil }
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
		if cfg.Loopback && cfg.LimitSetting != nil { // the client is the operator
			c.Setting = cfg.LimitSetting(of)
		}
		return limit.New(c)
	}
	h := &Handlers{}
	calls, connects := bucket("mcp", "mcp", cfg.Limits.MCP), bucket("connect", "mcp", connecting*cfg.Limits.MCP)
	if h.MCP, err = newMCP(cfg, hosts, calls, connects); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	restHandler, err := newREST(cfg, bucket("rest", "rest", cfg.Limits.REST))
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	pages := bucket("web", "web", cfg.Limits.Web)
	site, err := newWeb(cfg, pages)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	cfg.Pages = append(slices.Clip(cfg.Pages), Page{ // in a bucket of their own: a page may send many
		Path: guard.ReportPath, Free: true, Handler: csp.Handler(cfg.Tally, bucket("csp", "web", cfg.Limits.Web)),
	})
	if cfg.Clicks {
		cfg.Pages = append(cfg.Pages, Page{
			Path: clicks.Path, Free: true, Handler: clicks.Handler(cfg.Tally, bucket("clicks", "web", cfg.Limits.Web)),
		})
	}
	h.Public = public(cfg, hosts, site, restHandler, h.MCP, pages)
	h.Public = identified(cfg.Metrics, proxies, h.Public)
	private := admin.Config{
		Metrics: cfg.Metrics, Loopback: cfg.AdminLoopback, AllowedHosts: cfg.AllowedHosts, Token: cfg.AdminToken,
		Failures: limit.New(limit.Config{Name: "login", Calls: failedLogins, Proxies: proxies, Store: cfg.LimitStore,
			Log: cfg.Log, Refused: cfg.Metrics.Refusals("login")}),
		Proxies: proxies,
		Pages:   append(slices.Clip(cfg.AdminPages), enginesPage(cfg)), Log: cfg.Log,
	}
	if cfg.Dashboard.Store != nil {
		d, err := dashboard.New(cfg.Dashboard)
		if err != nil {
			return nil, fmt.Errorf("api: %w", err)
		}
		private.Home, private.Front = d, d
	}
	if h.Admin, err = admin.New(private); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	return h, nil
}

// failedLogins is how many attempts to log in to the admin listener a client may
// fail in limit.Period.
const failedLogins = 20

// connecting is how many times as many messages a client may send to connect as to
// call.
const connecting = 10

func newMCP(cfg Config, hosts []string, calls, connects *limit.Bucket) (*mcp.Server, error) {
	return mcp.New(mcp.Config{
		Name: "almanac", Version: cfg.Version, Instructions: cfg.Instructions,
		Serving: cfg.Serving, Resources: cfg.Resources, Limit: calls, Connect: connects,
		AllowedOrigins: cfg.AllowedOrigins, AllowedHosts: hosts, Loopback: cfg.Loopback,
		Observe: cfg.Metrics.ObserveTool,
	})
}

func newREST(cfg Config, bucket *limit.Bucket) (*rest.Handler, error) {
	documents, err := documents(cfg)
	if err != nil {
		return nil, err
	}
	return rest.New(rest.Config{
		Serving: cfg.Serving, Documents: documents, Limit: bucket, PublicURL: cfg.PublicURL,
		Observe: cfg.Metrics.ObserveRequest,
	})
}

// public routes the public listener: tools, pages, and everything else to
// REST, which also rejects unknown addresses unless a browser asks.
func public(
	cfg Config, hosts []string, site *web.Handler, restHandler, mcpHandler http.Handler, bucket *limit.Bucket,
) http.Handler {
	mux := http.NewServeMux()
	for _, p := range cfg.Pages {
		h := p.Handler
		if !p.Free {
			h = bucket.Handler(h)
		}
		mux.Handle(p.Path, observed(cfg, p.Path, h))
	}
	tools := observed(cfg, "/mcp", mcpHandler)
	h := http.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" || r.URL.Path == "/mcp/" {
			tools.ServeHTTP(w, r)
			return
		}
		// Only what the mux routes is passed to it: its own 404 is plain text.
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		route := site.Route(r)
		if route == "" && unknown(cfg, r) {
			route = "page not found"
		}
		if route != "" {
			observed(cfg, route, site).ServeHTTP(w, r)
			return
		}
		restHandler.ServeHTTP(w, r)
	}))
	if cfg.Loopback {
		h = guard.Hosts(hosts, h)
	}
	return h
}

// unknown reports whether a browser asks for a page that neither site nor API
// has.
func unknown(cfg Config, r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead || !web.Prefers(r) {
		return false
	}
	path := r.URL.Path
	if strings.HasPrefix(path, "/api/") || path == "/api" || path == "/health" || path == "/ready" {
		return false
	}
	return !slices.ContainsFunc(cfg.Operations, func(o op.Operation) bool {
		return o.Path == strings.TrimSuffix(path, "/")
	})
}

// identified names the request to logs and answers, and the client to the admission and
// the tally of searches. It counts the requests under way, and tells the catalog when
// each began.
func identified(m *admin.Metrics, proxies limit.Proxies, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer m.Begin()()
		id := r.Header.Get(op.RequestHeader)
		if !proxies.Trusts(r) || !op.ValidRequest(id) {
			id = op.NewRequest()
		}
		w.Header().Set(op.RequestHeader, id)
		client := proxies.Client(r)
		ctx := tally.WithClient(op.WithRequest(r.Context(), id), limit.Site(client))
		ctx = admit.WithClient(ctx, limit.Key(client))
		next.ServeHTTP(w, r.WithContext(catalog.WithStart(ctx, time.Now())))
	})
}

// observed counts and logs the answers of a handler under one route.
func observed(cfg Config, route string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		seen := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		defer func() {
			took := time.Since(start)
			cfg.Metrics.ObserveRequest(r.Method, route, seen.status, took)
			cfg.Log.DebugContext(r.Context(), "request", "method", op.Cut(r.Method), "route", route,
				"status", seen.status, "took", took, "bytes", seen.bytes)
		}()
		next.ServeHTTP(seen, r)
	})
}

type statusWriter struct {
	http.ResponseWriter
	status int
	bytes  int
}

func (w *statusWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.bytes += n
	return n, err
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap gives http.ResponseController access to the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

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
		// Above rest.MaxURL, so that a longer address gets its error as JSON; times
		// the connections that Connections allows, it must fit into memory.
		MaxHeaderBytes: 48 << 10,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug), // mostly malformed requests of strangers
	}
}
