package outbound

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
)

// own is what a source may reach in the allowed private networks: the servers
// that its options name.
type own struct {
	servers map[string]bool // host and port
	others  *http.Transport // connects to no private network
	dialer  *net.Dialer     // of others
}

// For returns a client for a source whose own options name the addresses: only
// their servers may be in the private networks that the client allows, and only
// if a request starts there. What a page, a feed or a redirect leads to is not
// the operator's word. Servers that c has been made for stay. It shares the
// client's slots, and its connections if c was made by For.
func (c *Client) For(addresses ...string) *Client {
	if len(c.config.Allow) == 0 || c.config.Transport != nil {
		return c // there is nothing to keep from others
	}
	made := &Client{config: c.config, slots: c.slots, dialer: c.dialer, transport: c.transport,
		own: &own{servers: map[string]bool{}}}
	if c.own == nil {
		made.dialer, made.transport = dial(c.config, guard(c.config.Allow))
		made.own.dialer, made.own.others = dial(c.config, unnamed(c.config))
	} else {
		made.own.dialer, made.own.others = c.own.dialer, c.own.others
		maps.Copy(made.own.servers, c.own.servers)
	}
	for _, a := range addresses {
		u, err := url.Parse(a)
		if err != nil || u.Hostname() == "" {
			continue
		}
		made.own.servers[server(u)] = true
		if u.Scheme == "http" && u.Port() == "" { // such servers redirect to https
			made.own.servers[server(&url.URL{Scheme: "https", Host: u.Host})] = true
		}
	}
	return made
}

// ports are the default ports of the schemes that options name servers by.
var ports = map[string]string{"http": "80", "https": "443", "ssh": "22", "git": "9418"}

// server returns the host and the port of an address in one spelling.
func server(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	return net.JoinHostPort(host, cmp.Or(u.Port(), ports[u.Scheme]))
}

// owns reports whether a request may use the allowed private networks.
func (c *Client) owns(u *url.URL) bool { return c.own == nil || c.own.servers[server(u)] }

// unnamed returns the guard of all servers that options do not name.
func unnamed(c Config) control {
	strict, allowing := guard(nil), guard(c.Allow)
	return func(network, address string, conn syscall.RawConn) error {
		err := strict(network, address, conn)
		if err != nil && allowing(network, address, conn) == nil {
			return fmt.Errorf("%w; it is in a private network that is allowed to the servers that the source's options "+
				"name, and this one is not among them", err)
		}
		return err
	}
}
