// Package admin serves the operator: who works here, metrics, profiles, and the
// pages that other packages add. It belongs on a separate listener.
package admin

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/pprof"

	"almanac/api/guard"
	"almanac/api/limit"
)

// Config of the admin handler.
type Config struct {
	Metrics *Metrics // nil = new ones
	// Loopback means that the listener is only reachable from this machine; the
	// Host header must then be this machine's or one of AllowedHosts. Any
	// other listener needs a Token, which clients send; see login.
	Loopback     bool
	AllowedHosts []string
	Token        string
	// Failures counts the attempts to log in that failed; nil = they are not limited.
	Failures *limit.Bucket
	Proxies  limit.Proxies // say which scheme the browser speaks
	Pages    []Page
	Home     http.Handler // has every other address; nil = there are none
	Front    Front        // nil = nobody logs in by a form
	Log      *slog.Logger
}

// Page is a part of the admin interface that another package adds.
type Page struct {
	Path    string // as http.ServeMux has it: /relevance/
	Handler http.Handler
}

// Front is what people see before they have logged in.
type Front interface {
	// Login writes the page with the form.
	Login(w http.ResponseWriter, r *http.Request, f Form)
	// Refuse writes a page that says why a request was refused.
	Refuse(w http.ResponseWriter, r *http.Request, status int, message string)
	// Assets serves what that page loads from below path.
	Assets() (path string, files http.Handler)
}

// New assembles the handler. A listener that others can reach without a token
// is an error.
func New(cfg Config) (http.Handler, error) {
	if !cfg.Loopback && cfg.Token == "" {
		return nil, errors.New("admin: a listener beyond loopback needs a token")
	}
	if cfg.Metrics == nil {
		cfg.Metrics = NewMetrics()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Home == nil {
		cfg.Home = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			guard.Refuse(w, http.StatusNotFound, "there is no such page")
		})
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", cfg.Metrics.handler(cfg.Log))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	for _, p := range cfg.Pages {
		mux.Handle(p.Path, p.Handler)
	}
	mux.Handle("/", cfg.Home)
	known, err := login(cfg, mux)
	if err != nil {
		return nil, err
	}
	return protect(cfg, known), nil
}

const contentPolicy = "default-src 'none'; style-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'"

// foreign says why a form is refused.
const foreign = "pages of another origin may not change anything here: open this page at the listener's own address, " +
	"and let a proxy before it pass the Host header on"

// protect keeps out DNS rebinding and forged forms.
func protect(cfg Config, next http.Handler) http.Handler {
	forged := http.NewCrossOriginProtection()
	forged.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cfg.Front != nil && asksForPage(r) {
			cfg.Front.Refuse(w, r, http.StatusForbidden, foreign)
			return
		}
		guard.Refuse(w, http.StatusForbidden, foreign)
	}))
	next = forged.Handler(next)
	if cfg.Loopback {
		next = guard.Hosts(cfg.AllowedHosts, next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		guard.OwnReferrer(h)
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
