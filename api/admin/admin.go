// Package admin serves the operator: metrics, profiles, and the pages that
// other packages add. It belongs on a separate listener.
package admin

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"strings"

	"almanac/api/guard"
)

// Config of the admin handler.
type Config struct {
	Metrics *Metrics // nil = new ones
	Version string
	// Loopback means that the listener is only reachable from this machine; the
	// Host header must then be this machine's or one of AllowedHosts. Any
	// other listener needs a Token, which clients send as a bearer token.
	Loopback     bool
	AllowedHosts []string
	Token        string
	Pages        []Page
	Home         http.Handler // has every other address; nil = a list of the pages
	Log          *slog.Logger
}

// Page is a part of the admin interface that another package adds.
type Page struct {
	Path    string // as http.ServeMux has it: /relevance/
	Title   string // on the index page; "" = not listed
	Handler http.Handler
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
	index, err := indexPage(cfg)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", cfg.Metrics.handler(cfg.Log))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	if cfg.Home == nil {
		mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(index) // the client may be gone
		})
		cfg.Home = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			guard.Refuse(w, http.StatusNotFound, "no such page; / lists all")
		})
	}
	for _, p := range cfg.Pages {
		mux.Handle(p.Path, p.Handler)
	}
	mux.Handle("/", cfg.Home)
	return protect(cfg, mux), nil
}

const contentPolicy = "default-src 'none'; style-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'"

// protect keeps out strangers, DNS rebinding and forged forms.
func protect(cfg Config, next http.Handler) http.Handler {
	forged := http.NewCrossOriginProtection()
	forged.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		guard.Refuse(w, http.StatusForbidden, "pages of another origin may not change anything here")
	}))
	next = forged.Handler(next)
	if cfg.Token != "" {
		next = bearer(cfg.Token, next)
	}
	if cfg.Loopback {
		next = guard.Hosts(cfg.AllowedHosts, next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// bearer compares digests, so that the time taken reveals nothing about the
// token, not even its length.
func bearer(token string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(given))
		if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="almanac admin"`)
			guard.Refuse(w, http.StatusUnauthorized, "send the admin token: Authorization: Bearer …")
			return
		}
		next.ServeHTTP(w, r)
	})
}

var indexTemplate = template.Must(template.New("index").Parse(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>almanac admin</title>
<h1>almanac admin</h1>
<p>version {{.Version}}</p>
<ul>
{{range .Pages}}{{if .Title}}<li><a href="{{.Path}}">{{.Title}}</a></li>
{{end}}{{end}}<li><a href="/metrics">Metrics</a></li>
<li><a href="/debug/pprof/">Profiles</a></li>
</ul>
</html>
`))

func indexPage(cfg Config) ([]byte, error) {
	var buf bytes.Buffer
	if err := indexTemplate.Execute(&buf, cfg); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
