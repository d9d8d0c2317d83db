package limit

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

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
