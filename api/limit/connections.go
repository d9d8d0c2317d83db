package limit

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"almanac/api/op"
)

// Connections bounds the open connections of a listener, because each may hold a
// header and a body that nothing else has counted yet.
type Connections struct {
	// Total bounds the connections of all clients; 0 = no bound. To accept one more,
	// the connection is closed that has waited longest for a request. If none waits,
	// the client that has begun the most requests (at least two) whose bodies have not
	// come loses the oldest of them. Else the new connection waits.
	Total int
	// PerClient bounds the connections of one client (Key), and four times as many
	// those of all clients of an IPv6 /48. Further ones are closed; 0 = no bound.
	PerClient int
	// Proxies have connections of many clients: only Total bounds them, and PerClient
	// the requests of each client whose bodies have not come.
	Proxies Proxies
	// Refused is called for each connection that is closed; may be nil.
	Refused func()
}

// siteConnections is for how many clients' connections a site may have at once.
const siteConnections = 4

// Bounds of what the server still reads of a client that it answered before the whole
// request came. A connection that is closed while bytes come is reset, and the client
// may lose the answer.
const (
	lingerBytes = 1 << 20
	lingerTime  = 2 * time.Second
)

// Listen returns l with these bounds, for server, whose hooks and handler tell it the
// states of its connections. An answer to a request whose body was not read to its end
// closes the connection.
func (c Connections) Listen(l net.Listener, server *http.Server) net.Listener {
	b := &bounded{Listener: l, cfg: c, open: map[string]int{}}
	b.changed = sync.NewCond(&b.mu)
	server.ConnState = b.state
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, conn)
	}
	server.Handler = b.handler(server.Handler)
	return b
}

// connectionKey is the context key of the connection of a request.
type connectionKey struct{}

// bounded is a listener with bounds.
type bounded struct {
	net.Listener
	cfg Connections

	mu      sync.Mutex // guards everything below, and what connections have
	changed *sync.Cond // a connection ended or got into a list, or the listener is closed
	open    map[string]int
	total   int
	waiting list.List // of *connection without a request, the longest first
	coming  list.List // of *connection with a request whose body has not come, likewise
	closed  bool
}

// connection is an open one.
type connection struct {
	net.Conn
	of     *bounded
	keys   []string   // keys in open under which it is counted
	in     *list.List // waiting or coming; nil: it has a request that is being answered
	place  *list.Element
	client string // whose request is coming
	partly bool   // the client may not have sent all of its request
	closed bool
}

// tooMany is the answer to a connection above the bound, which is not read.
var tooMany = func() []byte {
	return fmt.Appendf(nil, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json; charset=utf-8\r\n"+
		"Retry-After: 5\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(tooManyBody), tooManyBody)
}()

var tooManyBody = op.ErrorJSON("this address has too many connections open: close some")

// handler makes the answer to a request close the connection, unless the request's body
// is read to its end. A body counts against its client until then.
func (b *bounded) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := r.Context().Value(connectionKey{}).(*connection)
		if r.Body == http.NoBody {
			b.came(c)
			next.ServeHTTP(w, r)
			return
		}
		defer b.cut(c)
		w.Header().Set("Connection", "close")
		if !b.comes(c, Key(b.cfg.Proxies.Client(r))) {
			b.refused()
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write(tooManyBody)
			return
		}
		r = r.WithContext(r.Context()) // net/http keeps the body of its own request
		r.Body = &body{r.Body, func() {
			w.Header().Del("Connection")
			b.came(c)
		}}
		next.ServeHTTP(w, r)
	})
}

// body calls came at its end.
type body struct {
	io.ReadCloser
	came func()
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF { //nolint:errorlint // as io.Reader has it
		b.came()
	}
	return n, err
}

// comes counts a request whose body has not come; false: its client has too many.
func (b *bounded) comes(c *connection, client string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, _ := b.begun()
	if b.cfg.PerClient > 0 && n[client] >= b.cfg.PerClient {
		return false
	}
	c.client = client
	b.move(c, &b.coming)
	return true
}

// came notes that a client has sent all of its request.
func (b *bounded) came(c *connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.partly = false
	b.move(c, nil)
	if b.closed { // which had set a deadline
		_ = c.SetReadDeadline(time.Time{})
	}
}

// cut ends the reads of net/http, which would wait for the rest of a body that was not
// read to its end.
func (b *bounded) cut(c *connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.partly {
		_ = c.SetReadDeadline(time.Unix(1, 0))
	}
}

// begun counts the requests of each client whose bodies have not come. most is the
// client with the most of them.
func (b *bounded) begun() (n map[string]int, most string) {
	n = map[string]int{}
	for e := b.coming.Front(); e != nil; e = e.Next() {
		client := e.Value.(*connection).client
		if n[client]++; n[client] > n[most] {
			most = client
		}
	}
	return n, most
}

// move puts a connection at the end of a list, or takes it out of the one where it is. A
// closed one is in none.
func (b *bounded) move(c *connection, to *list.List) {
	if c.closed {
		to = nil
	}
	if c.in != nil {
		c.in.Remove(c.place)
	}
	if c.in = to; to != nil {
		c.place = to.PushBack(c)
		b.changed.Signal()
	}
}

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
			b.refused()
			continue
		}
		if !b.makeRoom(c) {
			_ = c.end()
			return nil, net.ErrClosed
		}
		return c, nil
	}
}

func (b *bounded) refused() {
	if b.cfg.Refused != nil {
		b.cfg.Refused()
	}
}

// Close implements net.Listener. Requests that are coming have a moment to arrive.
func (b *bounded) Close() error {
	b.mu.Lock()
	b.closed = true
	for e := b.coming.Front(); e != nil; e = e.Next() {
		_ = e.Value.(*connection).SetReadDeadline(time.Now().Add(lingerTime))
	}
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
		other := b.leastWanted()
		if other == nil {
			b.changed.Wait()
			continue
		}
		b.mu.Unlock()
		_ = other.end()
		b.mu.Lock()
	}
	b.move(c, &b.waiting)
	return !b.closed
}

// leastWanted is the connection that ends for another; nil: none.
func (b *bounded) leastWanted() *connection {
	if longest := b.waiting.Front(); longest != nil {
		return longest.Value.(*connection)
	}
	n, most := b.begun()
	for e := b.coming.Front(); e != nil && n[most] > 1; e = e.Next() {
		if c := e.Value.(*connection); c.client == most {
			return c
		}
	}
	return nil
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
	case state == http.StateActive:
		c.partly = true
		b.move(c, nil)
	case state == http.StateIdle:
		c.partly = false
		b.move(c, &b.waiting)
	}
}

// CloseWrite is called by net/http, before Close, where it refused a request that it
// could not read.
func (c *connection) CloseWrite() error { return c.Close() }

// Close implements net.Conn. While the client may still be sending, the connection
// lingers among those that wait.
func (c *connection) Close() error {
	b := c.of
	b.mu.Lock()
	if !c.partly || c.closed {
		b.mu.Unlock()
		return c.end()
	}
	if c.in != &b.waiting {
		b.move(c, &b.waiting)
		go c.linger()
	}
	b.mu.Unlock()
	return nil
}

// linger ends what the server sends, and the connection when the client has ended too,
// or has sent too much or for too long.
func (c *connection) linger() {
	defer func() { _ = c.end() }()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); !ok || half.CloseWrite() != nil {
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.CopyN(io.Discard, c.Conn, lingerBytes)
}

// end closes a connection at once.
func (c *connection) end() error {
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
	b.move(c, nil)
	for _, key := range c.keys {
		if b.open[key]--; b.open[key] == 0 {
			delete(b.open, key)
		}
	}
	b.total--
	b.changed.Signal()
}
