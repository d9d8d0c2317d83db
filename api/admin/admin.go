// Package admin serves the operator: login, metrics, profiles of the runtime, and the
// pages that other packages add. It belongs on a separate listener.
package admin

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"slices"
	"strings"
	"time"

	"almanac/api/limit"
	"almanac/api/op"
	"almanac/api/server"
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
	Proxies  limit.Proxies  // say which scheme the browser speaks
	Routes   []server.Route // that other packages add
	Front    Front          // nil = there is no form to log in
	Log      *slog.Logger
}

// Front is what people see before they have logged in.
type Front interface {
	// Login is the page with the form.
	Login(r *http.Request, f Form) *server.Answer
	// Refuse is a page that says why a request was refused.
	Refuse(r *http.Request, err error) *server.Answer
	// Assets serves what that page loads.
	Assets() server.Route
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
	sessions, err := newSessions(cfg.Token, time.Now)
	if err != nil {
		return nil, err
	}
	g := &gate{cfg: cfg, sessions: sessions}
	behind := append([]server.Route{
		raw("/metrics", cfg.Metrics.handler(cfg.Log)),
		raw("/debug/pprof", http.HandlerFunc(profiles)),
		raw("/debug/pprof/{name}", http.HandlerFunc(pprof.Index)),
		raw("/debug/pprof/cmdline", http.HandlerFunc(pprof.Cmdline)),
		raw("/debug/pprof/profile", http.HandlerFunc(pprof.Profile)),
		raw("/debug/pprof/symbol", http.HandlerFunc(pprof.Symbol)),
		raw("/debug/pprof/trace", http.HandlerFunc(pprof.Trace)),
	}, cfg.Routes...)
	if !slices.ContainsFunc(behind, func(rt server.Route) bool { return rt.Path == "" }) {
		behind = append(behind, server.Route{Serve: func(*http.Request) (*server.Answer, error) {
			return nil, op.NotFound("there is no such page")
		}})
	}
	for i := range behind {
		behind[i].Gate = g.gate
	}
	routes := append(g.routes(), behind...)
	for i := range routes {
		routes[i].Headers = headers
		if cfg.Front != nil {
			routes[i].Refuse = refuse(cfg.Front)
		}
	}
	return server.New(server.Config{Routes: routes, Check: check(cfg), Log: cfg.Log})
}

func raw(path string, h http.Handler) server.Route {
	return server.Route{Method: http.MethodGet, Path: path,
		Serve: func(*http.Request) (*server.Answer, error) { return &server.Answer{Raw: h}, nil }}
}

// profiles serves the profiles of the Go runtime, under an address that the links of
// its list lead to.
func profiles(w http.ResponseWriter, r *http.Request) {
	if path, _, _ := strings.Cut(r.RequestURI, "?"); !strings.HasSuffix(path, "/") {
		http.Redirect(w, r, "/debug/pprof/", http.StatusTemporaryRedirect)
		return
	}
	pprof.Index(w, r)
}

// headers are those of every answer.
func headers(h http.Header, _ *http.Request) {
	server.OwnReferrer(h)
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Cache-Control", "no-store")
}

// refuse answers browsers with a page and programs with JSON.
func refuse(front Front) func(*http.Request, error) *server.Answer {
	return func(r *http.Request, err error) *server.Answer {
		if _, ok := errors.AsType[*server.Refusal](err); ok && !asksForPage(r) {
			return server.Explain(r.Context(), err).JSON()
		}
		return front.Refuse(r, err)
	}
}

// foreign says why a form is refused.
var foreign = &server.Refusal{Status: http.StatusForbidden, Message: "pages of another origin may not change anything " +
	"here: open this page at the listener's own address, and let a proxy before it pass the Host header on"}

// check keeps out DNS rebinding and forged forms.
func check(cfg Config) func(*http.Request) error {
	forged, local := http.NewCrossOriginProtection(), server.Hosts(cfg.AllowedHosts)
	return func(r *http.Request) error {
		if cfg.Loopback {
			if err := local(r); err != nil {
				return err
			}
		}
		if forged.Check(r) != nil {
			return foreign
		}
		return nil
	}
}
