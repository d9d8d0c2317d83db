// Package limit bounds what clients use: it refuses the calls of a client above its
// limit, bounds how many searches run at once, and the connections of a listener. The counts are kept in a store
// of ulule/limiter: in memory, or shared between replicas.
package limit

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ulule/limiter/v3"
)

// Period is the default window in which calls are counted.
const Period = 15 * time.Minute

// Config describes a bucket.
type Config struct {
	Name    string // of the bucket: buckets of different names count separately
	Calls   int    // per client and Period, of all clients of an IPv6 /48 16 times as many; 0 = no limit
	Period  time.Duration
	Proxies Proxies
	// Exempt reports whether a call is not counted; nil: all are.
	Exempt func(*http.Request) bool
	// Setting is the setting that changes the limit. Refusals name it where the client
	// is the operator. Refused is called for each refused call; may be nil.
	Setting string
	Refused func()
	// Store holds the counts; nil = a new one in memory.
	Store limiter.Store
	Log   *slog.Logger
	Now   func() time.Time // the store's clock; nil = time.Now
}

// A Bucket limits the calls of each client. A nil Bucket has no limit.
type Bucket struct {
	cfg  Config
	rate limiter.Rate
}

// New makes a bucket; nil if it has no limit.
func New(cfg Config) *Bucket {
	if cfg.Calls <= 0 {
		return nil
	}
	if cfg.Period == 0 {
		cfg.Period = Period
	}
	if cfg.Store == nil {
		cfg.Store = NewStore()
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Bucket{cfg: cfg, rate: limiter.Rate{Period: cfg.Period, Limit: int64(cfg.Calls)}}
}

// Take counts a call and sets the headers of its answer. If the client has
// no call left it returns why, and the seconds to wait; else "". If the store fails
// the call passes: a limit is not worth an outage.
func (b *Bucket) Take(h http.Header, r *http.Request) (refusal string, wait int) {
	if b == nil || b.cfg.Exempt != nil && b.cfg.Exempt(r) {
		return "", 0
	}
	state, of, err := b.count(r.Context(), b.cfg.Proxies.Client(r))
	if err != nil {
		b.cfg.Log.Error("limit store failed, call not counted", "bucket", b.cfg.Name, "error", err)
		return "", 0
	}
	// The store returns whole seconds, rounded down; the wait is rounded up.
	wait = int(math.Ceil(time.Unix(state.Reset+1, 0).Sub(b.cfg.Now()).Seconds()))
	wait = max(1, min(wait, int(b.cfg.Period.Seconds())))
	h.Set("RateLimit-Limit", strconv.FormatInt(state.Limit, 10))
	h.Set("RateLimit-Remaining", strconv.FormatInt(state.Remaining, 10))
	h.Set("RateLimit-Reset", strconv.Itoa(wait))
	if !state.Reached {
		return "", 0
	}
	if b.cfg.Refused != nil {
		b.cfg.Refused()
	}
	h.Set("Retry-After", strconv.Itoa(wait))
	refusal = fmt.Sprintf("the limit of %d calls in %s%s is used up; try again in %d s",
		state.Limit, minutes(b.cfg.Period), of, wait)
	if b.cfg.Setting != "" {
		refusal += "; " + b.cfg.Setting
	}
	return refusal, wait
}

// count counts a call of a client and of its site, and returns the state of the
// one with fewer calls left; of names the site. When the site has none the client
// is not even looked up, so that nobody fills the store from one site.
func (b *Bucket) count(ctx context.Context, client netip.Addr) (state limiter.Context, of string, err error) {
	name := b.cfg.Name + ":"
	site, sited := siteOf(client)
	rate := limiter.Rate{Period: b.rate.Period, Limit: b.rate.Limit * siteClients}
	if sited {
		state, err = b.cfg.Store.Peek(ctx, name+site, rate)
		if err != nil || state.Remaining == 0 {
			state.Reached = true
			return state, " for " + site, err
		}
	}
	state, err = b.cfg.Store.Get(ctx, name+Key(client), b.rate)
	if err != nil || !sited || state.Reached {
		return state, "", err
	}
	all, err := b.cfg.Store.Get(ctx, name+site, rate)
	if all.Reached || all.Remaining < state.Remaining {
		return all, " for " + site, err
	}
	return state, "", err
}

// Left reports whether the client of a request has calls left, without counting one.
func (b *Bucket) Left(r *http.Request) bool {
	if b == nil || b.cfg.Exempt != nil && b.cfg.Exempt(r) {
		return true
	}
	state, err := b.cfg.Store.Peek(r.Context(), b.cfg.Name+":"+Key(b.cfg.Proxies.Client(r)), b.rate)
	return err != nil || state.Remaining > 0
}

func minutes(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d minutes", d/time.Minute)
	}
	return d.String()
}

// Site identifies who may be one person with many addresses: the /24 network of an
// IPv4 address, which hosters give out whole, or the /48 of an IPv6 address.
func Site(client netip.Addr) string {
	if site, ok := siteOf(client); ok {
		return site
	}
	if p, err := client.Unmap().Prefix(24); err == nil && p.Addr().Is4() {
		return p.String()
	}
	return Key(client)
}

// siteClients is for how many clients' calls a site may make.
const siteClients = 16

// siteOf returns the /48 network of an IPv6 address, which is what one customer
// is given at most: as many clients as it has /64 networks, 65,536.
func siteOf(client netip.Addr) (site string, ok bool) {
	if !client.IsValid() || client.Unmap().Is4() {
		return "", false
	}
	p, _ := client.WithZone("").Prefix(48) // fails only beyond 128 bits
	return p.String(), true
}

// Key identifies a client for counting: its IPv4 address, or the /64 network of
// its IPv6 address, as a /64 belongs to one subscriber.
func Key(client netip.Addr) string {
	if !client.IsValid() {
		return "unknown"
	}
	client = client.Unmap().WithZone("")
	if client.Is4() {
		return client.String()
	}
	p, _ := client.Prefix(64) // fails only beyond 128 bits
	return p.String()
}

// Proxies are the networks whose X-Forwarded-For is trusted.
type Proxies []netip.Prefix

// ParseProxies reads addresses and networks (10.0.0.0/8, ::1).
func ParseProxies(list []string) (Proxies, error) {
	var p Proxies
	for _, s := range list {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		if addr, err := netip.ParseAddr(s); err == nil {
			addr = addr.Unmap()
			p = append(p, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("limit: trusted proxy %q is neither an address nor a network", s)
		}
		if addr := network.Addr(); addr.Is4In6() && network.Bits() >= 96 { // clients' addresses are IPv4 then
			network = netip.PrefixFrom(addr.Unmap(), network.Bits()-96)
		}
		p = append(p, network.Masked())
	}
	return p, nil
}

// Client returns the address a request comes from: the peer's, or behind
// trusted proxies the rightmost address of X-Forwarded-For that is not one of
// them. Addresses to its left come from the client and may be forged. The zero
// Addr is returned if the peer has no address (a unix socket, a test).
func (p Proxies) Client(r *http.Request) netip.Addr {
	client := parseAddr(r.RemoteAddr)
	if !p.contains(client) {
		return client
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		addr := parseAddr(strings.TrimSpace(hop))
		if !addr.IsValid() {
			return client
		}
		client = addr
		if !p.contains(client) {
			return client
		}
	}
	return client
}

// Trusts reports whether a request comes from a trusted proxy.
func (p Proxies) Trusts(r *http.Request) bool { return p.contains(parseAddr(r.RemoteAddr)) }

func (p Proxies) contains(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// parseAddr reads an address with or without a port and brackets.
func parseAddr(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap()
	}
	addr, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap()
}
