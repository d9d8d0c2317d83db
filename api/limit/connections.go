package limit

import (
	"container/list"
	"fmt"
	"net"
	"net/http"
	"sync"

	"almanac/api/op"
)

// Connections bounds the open connections of a listener, because each may hold a
// header and a body that nothing else has counted yet.
type Connections struct {
	// Total bounds the connections of all clients; 0 = no bound. To accept one more,
	// the connection is closed that has waited longest for a request. While every
	// connection has a request under way, the new one waits.
	Total int
	// PerClient bounds the connections of one client (Key), and four times as many
	// those of all clients of an IPv6 /48. Further ones are closed; 0 = no bound.
	PerClient int
	// Proxies have connections of many clients: only Total bounds them.
	Proxies Proxies
	// Refused is called for each connection that is closed; may be nil.
	Refused func()
}

// siteConnections is for how many clients' connections a site may have at once.
const siteConnections = 4

// Listen returns l with these bounds, for server, which tells it the states of its
// connections (http.Server.ConnState).
func (c Connections) Listen(l net.Listener, server *http.Server) net.Listener {
	b := &bounded{Listener: l, cfg: c, open: map[string]int{}}
	b.changed = sync.NewCond(&b.mu)
	server.ConnState = b.state
	return b
}

// bounded is a listener with bounds.
type bounded struct {
	net.Listener
	cfg Connections

	mu      sync.Mutex // guards everything below, and what connections have
	changed *sync.Cond // one ended or waits for a request, or the listener is closed
	open    map[string]int
	total   int
	waiting list.List // of *connection without a request, the longest first
	closed  bool
}

// connection is an open one.
type connection struct {
	net.Conn
	of     *bounded
	keys   []string      // keys in open under which it is counted
	place  *list.Element // in waiting; nil: it has a request
	closed bool
}

// tooMany is the answer to a connection above the bound, which is not read.
var tooMany = func() []byte {
	body := op.ErrorJSON("this address has too many connections open: close some")
	return fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json; charset=utf-8\r\n"+
		"Retry-After: 5\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}()

// Accept implements net.Listener.
func (b *bounded) Accept() (net.Conn, error) {
	for {
		accepted, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := b.enter(accepted)
		if c == nil {
			_, _ = accepted.Write(tooMany) // it fits into the buffer of a new connection
			_ = accepted.Close()
			if b.cfg.Refused != nil {
				b.cfg.Refused()
			}
			continue
		}
		if !b.makeRoom(c) {
			_ = c.Close()
			return nil, net.ErrClosed
		}
		return c, nil
	}
}

// Close implements net.Listener.
func (b *bounded) Close() error {
	b.mu.Lock()
	b.closed = true
	b.changed.Broadcast()
	b.mu.Unlock()
	return b.Listener.Close()
}

// enter counts a connection; nil: its client has too many.
func (b *bounded) enter(accepted net.Conn) *connection {
	c := &connection{Conn: accepted, of: b}
	peer := parseAddr(accepted.RemoteAddr().String())
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cfg.PerClient > 0 && !b.cfg.Proxies.contains(peer) {
		c.keys = []string{Key(peer)}
		if b.open[c.keys[0]] >= b.cfg.PerClient {
			return nil
		}
		if site, ok := siteOf(peer); ok {
			if b.open[site] >= siteConnections*b.cfg.PerClient {
				return nil
			}
			c.keys = append(c.keys, site)
		}
	}
	for _, key := range c.keys {
		b.open[key]++
	}
	b.total++
	return c
}

// makeRoom ends connections until c is not above the total, and puts it among those
// that wait for a request; false: the listener is closed.
func (b *bounded) makeRoom(c *connection) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.cfg.Total > 0 && b.total > b.cfg.Total && !b.closed {
		longest := b.waiting.Front()
		if longest == nil {
			b.changed.Wait()
			continue
		}
		b.mu.Unlock()
		_ = longest.Value.(*connection).Close()
		b.mu.Lock()
	}
	c.place = b.waiting.PushBack(c)
	return !b.closed
}

// state notes whether a connection has a request. A new one waits for its first from
// when it is accepted, and has one when its header is read.
func (b *bounded) state(conn net.Conn, state http.ConnState) {
	c, ok := conn.(*connection)
	if !ok {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case c.closed:
	case state == http.StateActive && c.place != nil:
		b.waiting.Remove(c.place)
		c.place = nil
	case state == http.StateIdle && c.place == nil:
		c.place = b.waiting.PushBack(c)
		b.changed.Signal()
	}
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.leave(c)
	return c.Conn.Close()
}

// leave removes a connection from the counts.
func (b *bounded) leave(c *connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	if c.place != nil {
		b.waiting.Remove(c.place)
	}
	for _, key := range c.keys {
		if b.open[key]--; b.open[key] == 0 {
			delete(b.open, key)
		}
	}
	b.total--
	b.changed.Signal()
}
