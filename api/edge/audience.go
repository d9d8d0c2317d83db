package edge

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

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
