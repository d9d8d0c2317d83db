package limit

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"

	"golang.org/x/net/netutil"

	"almanac/api/op"
)

// Connections bounds the open connections of a listener: each may hold a header
// and a body that nothing has counted yet.
type Connections struct {
	Total     int // of all clients; those above it wait to be accepted; 0 = no bound
	PerClient int // of one client (Key); those above it are closed; 0 = no bound
	// Proxies have connections of many clients: only Total bounds them.
	Proxies Proxies
	// Refused is called for each connection that is closed; may be nil.
	Refused func()
}

// Listen returns l with these bounds.
func (c Connections) Listen(l net.Listener) net.Listener {
	if c.Total > 0 {
		l = netutil.LimitListener(l, c.Total)
	}
	if c.PerClient > 0 {
		l = &perClient{Listener: l, cfg: c, open: map[string]int{}}
	}
	return l
}

type perClient struct {
	net.Listener
	cfg Connections

	mu   sync.Mutex
	open map[string]int // by client; guarded by mu
}

// tooMany is the answer to a connection above the bound, which is not read.
var tooMany = func() []byte {
	body := op.ErrorJSON("this address has too many connections open: close some")
	return fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json; charset=utf-8\r\n"+
		"Retry-After: 5\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}()

// Accept implements net.Listener.
func (p *perClient) Accept() (net.Conn, error) {
	for {
		conn, err := p.Listener.Accept()
		if err != nil {
			return nil, err
		}
		peer := parseAddr(conn.RemoteAddr().String())
		if p.cfg.Proxies.contains(peer) {
			return conn, nil
		}
		if key, ok := p.enter(peer); ok {
			return &counted{Conn: conn, leave: func() { p.leave(key) }}, nil
		}
		_, _ = conn.Write(tooMany) // it fits into the buffer of a new connection
		_ = conn.Close()
		if p.cfg.Refused != nil {
			p.cfg.Refused()
		}
	}
}

func (p *perClient) enter(peer netip.Addr) (key string, ok bool) {
	key = Key(peer)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[key] >= p.cfg.PerClient {
		return "", false
	}
	p.open[key]++
	return key, true
}

func (p *perClient) leave(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open[key]--; p.open[key] == 0 {
		delete(p.open, key)
	}
}

// counted calls leave when it is closed first.
type counted struct {
	net.Conn
	closed atomic.Bool
	leave  func()
}

func (c *counted) Close() error {
	if !c.closed.Swap(true) {
		c.leave()
	}
	return c.Conn.Close()
}
