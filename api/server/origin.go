package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"almanac/api/op"
)

// Hosts returns a Check that passes only requests whose Host is a loopback name or
// address, or one of allowed (names, ports ignored): a foreign page that rebinds its
// name to 127.0.0.1 sends its own name. It is for loopback listeners.
func Hosts(allowed []string) func(*http.Request) error {
	names := map[string]bool{}
	for _, a := range allowed {
		names[hostname(a)] = true
	}
	return func(r *http.Request) error {
		if host := hostname(r.Host); !names[host] && !Loopback(host) {
			return &Refusal{Status: http.StatusForbidden,
				Message: "this listener is local: the Host header must be localhost or a configured name"}
		}
		return nil
	}
}

// Origins decides which pages may use an endpoint.
type Origins struct {
	allowed  map[string]bool
	any      bool
	loopback bool
}

// NewOrigins allows the given origins (https://kb.example.org; "*" is any)
// and, for a loopback listener, pages of this machine.
func NewOrigins(allowed []string, loopback bool) Origins {
	o := Origins{allowed: map[string]bool{}, loopback: loopback}
	for _, a := range allowed {
		o.any = o.any || a == "*"
		o.allowed[strings.ToLower(strings.TrimSuffix(a, "/"))] = true
	}
	return o
}

// Allow reports whether a request may pass: it has no Origin, so no page in a
// browser sends it, or one that is allowed.
func (o Origins) Allow(r *http.Request) bool {
	values := r.Header.Values("Origin")
	if len(values) == 0 || o.any {
		return true
	}
	if len(values) > 1 {
		return false
	}
	if o.allowed[strings.ToLower(values[0])] {
		return true
	}
	u, err := url.Parse(values[0])
	return err == nil && o.loopback && u.Host != "" && Loopback(hostname(u.Host)) &&
		isOrigin(values[0], u)
}

// Share lets pages of an allowed origin read an answer.
func (o Origins) Share(h http.Header, r *http.Request) {
	origin := r.Header.Get("Origin")
	if o.any {
		origin = "*"
	} else {
		h.Add("Vary", "Origin")
	}
	if origin == "" || !o.Allow(r) {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers",
		"ETag, Link, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, "+op.RequestHeader)
}

// isOrigin reports whether an address is one that browsers send as Origin: scheme,
// host and port (RFC 6454 6.2).
func isOrigin(value string, u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(value, u.Scheme+"://"+u.Host)
}

// Loopback reports whether a host name or address is that of this machine.
func Loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// Local reports whether a request was made on this machine for whoever uses it: from a
// loopback address to a loopback name, and without what proxies say of whom they serve.
func Local(r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() || !Loopback(hostname(r.Host)) {
		return false
	}
	return !passedOn(r)
}

// hostname returns a Host header in lower case without port, brackets and final
// dot.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// Reach is by what a service is reached, as it is configured.
type Reach struct {
	Listen    string   // address of the public listener
	PublicURL string   // base address that clients see; "" = that of the listener
	Proxies   []string // trusted ones
	Folder    bool     // it serves a folder, whose documents are somebody's own
}

// Facts keep what is known of a data directory; a catalog does.
type Facts interface {
	Meta(ctx context.Context, key string) (string, error)
	SetMeta(ctx context.Context, key, value string) error
}

// Audience decides whether a service is published, which means that not only people at its
// machine reach it: by its configuration, or because a request once came through a proxy.
// It is safe for concurrent use. Nothing is known of the nil Audience, which is published
// and lets no page of another origin read.
type Audience struct {
	configured string // why it is published by its configuration; "" = it is not
	folder     bool
	facts      Facts
	log        *slog.Logger

	passed atomic.Bool // a request came through a proxy
	kept   atomic.Bool // the facts have that
	saving sync.Mutex
}

// NewAudience reads a configuration; facts remember requests that came through proxies.
func NewAudience(reach Reach, facts Facts, log *slog.Logger) *Audience {
	a := &Audience{folder: reach.Folder, facts: facts, log: log}
	u, err := url.Parse(reach.PublicURL)
	switch {
	case !Loopback(hostname(reach.Listen)):
		a.configured = "server.listen is no loopback address"
	case len(reach.Proxies) > 0:
		a.configured = "server.trusted_proxies names proxies"
	case reach.PublicURL != "" && (err != nil || !Loopback(hostname(u.Host))):
		a.configured = "server.public_url is no loopback address"
	}
	return a
}

// Published returns why the service is published; "" = only this machine reaches it.
func (a *Audience) Published(ctx context.Context) (why string, err error) {
	switch {
	case a == nil:
		return "others may reach it", nil
	case a.configured != "":
		return a.configured, nil
	case a.passed.Load():
		return cameThrough, nil
	}
	day, err := a.facts.Meta(ctx, metaPassed)
	if err != nil || day == "" {
		return "", err
	}
	return cameThrough, nil
}

const cameThrough = "a request came through a proxy"

// metaPassed is the name of the fact that a request came through a proxy; its value is
// when the first did.
const metaPassed = "passed_on"

// patience bounds how long a request waits for the fact that it came through a proxy to
// be written.
const patience = time.Second

// See remembers a request that came through a proxy: in memory at once and for good in
// the facts. What cannot be written is tried again with the next such request.
func (a *Audience) See(r *http.Request) {
	if a == nil || a.kept.Load() || !passedOn(r) {
		return
	}
	a.passed.Store(true)
	if !a.saving.TryLock() {
		return
	}
	defer a.saving.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), patience)
	defer cancel()
	known, err := a.facts.Meta(ctx, metaPassed)
	if err == nil && known == "" {
		err = a.facts.SetMeta(ctx, metaPassed, time.Now().UTC().Format(time.RFC3339))
	}
	if err != nil {
		a.log.Warn("that a request came through a proxy could not be written, it is tried again", "error", err)
		return
	}
	a.kept.Store(true)
}

// Readers are the origins whose pages may read what anybody may ask for: all of a
// service that is published by its configuration, unless it serves a folder, else those
// that may call tools.
func (a *Audience) Readers(allowed []string, loopback bool) Origins {
	o := NewOrigins(allowed, loopback)
	o.any = o.any || a != nil && a.configured != "" && !a.folder
	return o
}

// passedOn reports whether a request has what proxies say of whom they serve.
func passedOn(r *http.Request) bool {
	for name := range r.Header {
		if slices.Contains(ofProxies, name) || strings.HasPrefix(name, "X-Forwarded-") {
			return true
		}
	}
	return false
}

// ofProxies are headers that only proxies add, in their canonical form.
var ofProxies = []string{"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "True-Client-Ip",
	"Cf-Connecting-Ip", "Fly-Client-Ip"}
