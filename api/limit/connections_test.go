package limit_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"almanac/api/limit"
)

// dialer opens connections to a listener from addresses of this machine.
func dialer(t *testing.T, to net.Listener) func(from string) net.Conn {
	return func(from string) net.Conn {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
		c, err := d.Dial("tcp", to.Addr().String())
		if err != nil {
			t.Skip("only where 127.0.0.0/8 is this machine: ", err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
}

// listen accepts the connections of a bounded listener and reports each.
func listen(t *testing.T, c limit.Connections) (net.Listener, chan net.Conn) {
	t.Helper()
	bare, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, accepted := c.Listen(bare, &http.Server{}), make(chan net.Conn, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	t.Cleanup(func() {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
		<-done
	})
	return l, accepted
}

func TestConnectionsOfAClientAreBounded(t *testing.T) {
	proxies, err := limit.ParseProxies([]string{"127.0.0.9"})
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan bool, 1)
	l, accepted := listen(t, limit.Connections{PerClient: 2, Proxies: proxies, Refused: func() { refused <- true }})
	dial := dialer(t, l)
	dial("127.0.0.1")
	dial("127.0.0.1")
	first := <-accepted
	<-accepted
	third := dial("127.0.0.1")
	res, err := http.ReadResponse(bufio.NewReader(third), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 503 || res.Header.Get("Retry-After") == "" {
		t.Errorf("the third connection: %d %v", res.StatusCode, res.Header)
	}
	<-refused
	dial("127.0.0.2") // another client
	<-accepted
	for range 5 {
		dial("127.0.0.9") // a proxy
		<-accepted
	}
	if err := errors.Join(first.Close(), first.Close()); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("closing twice: %v", err)
	}
	dial("127.0.0.1") // there is room again, for one
	<-accepted
	dial("127.0.0.1")
	<-refused
}

// visitors is a listener of connections from anywhere.
type visitors chan net.Conn

func (v visitors) Accept() (net.Conn, error) {
	if c, ok := <-v; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (v visitors) Close() error { close(v); return nil }
func (visitors) Addr() net.Addr { return &net.TCPAddr{} }

// visitor is a connection from an address; it swallows what is written.
type visitor struct {
	net.Conn
	from string
}

func (v visitor) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(v.from), 1))
}
func (visitor) Write(p []byte) (int, error) { return len(p), nil }
func (visitor) Close() error                { return nil }

// TestConnectionsOfASiteAreBounded: who has an IPv6 /48 is 65,536 clients, and gets
// the connections of four.
func TestConnectionsOfASiteAreBounded(t *testing.T) {
	come, refused := make(visitors, 100), 0
	l := limit.Connections{PerClient: 2, Refused: func() { refused++ }}.Listen(come, &http.Server{})
	var froms []string
	for _, subnet := range []string{"1", "2", "3", "4", "5", "6"} {
		for range 3 {
			froms = append(froms, "2001:db8:7:"+subnet+"::1")
		}
	}
	for _, from := range append(froms, "2001:db8:8:1::1", "192.0.2.1", "192.0.2.2") {
		come <- visitor{from: from}
	}
	_ = come.Close()
	var accepted []net.Conn
	for {
		c, err := l.Accept()
		if err != nil {
			break
		}
		accepted = append(accepted, c)
	}
	if len(accepted) != 8+3 || refused != 18-8 {
		t.Errorf("%d are accepted, %d refused", len(accepted), refused)
	}
}

// server serves on a bounded listener; became reports the states of connections when
// the listener has noted them.
func server(t *testing.T, c limit.Connections, h http.Handler) (l net.Listener, became chan http.ConnState) {
	t.Helper()
	bare, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: 48 << 10}
	l = c.Listen(bare, s)
	note := s.ConnState
	became = make(chan http.ConnState, 1_000)
	s.ConnState = func(c net.Conn, state http.ConnState) {
		note(c, state)
		became <- state
	}
	done := make(chan error)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l, became
}

// until waits for a state of any connection.
func until(became chan http.ConnState, state http.ConnState) {
	for s := range became {
		if s == state {
			return
		}
	}
}

// get asks on a connection and returns the status.
func getOn(t *testing.T, c net.Conn, path string) int {
	t.Helper()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: kb.example\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return answerOn(t, c)
}

func answerOn(t *testing.T, c net.Conn) int {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}

// ends reads the end of a connection.
func ends(c net.Conn) bool {
	n, err := c.Read(make([]byte, 1))
	return n == 0 && err != nil
}

var ok = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })

// TestWhatWaitsLongestEndsFirst fills a server with idle connections, of which one
// was used again, and with one that sends nothing: a new client is answered, for each
// in turn.
func TestWhatWaitsLongestEndsFirst(t *testing.T) {
	l, became := server(t, limit.Connections{Total: 4}, ok)
	dial := dialer(t, l)
	var held []net.Conn
	for _, from := range []string{"127.0.0.2", "127.0.0.3", "127.0.0.4"} {
		c := dial(from)
		if status := getOn(t, c, "/"); status != http.StatusNoContent {
			t.Fatal(status)
		}
		until(became, http.StateIdle)
		held = append(held, c)
	}
	silent := dial("127.0.0.5")
	until(became, http.StateNew)
	getOn(t, held[0], "/")
	until(became, http.StateIdle)
	for i, c := range []net.Conn{held[1], held[2], silent, held[0]} {
		if status := getOn(t, dial("127.0.0.6"), "/"); status != http.StatusNoContent {
			t.Fatalf("a new client: %d", status)
		}
		until(became, http.StateIdle)
		if !ends(c) {
			t.Errorf("connection %d goes on", i)
		}
	}
}

// TestARequestIsNotEnded fills a server with a request under way: a new client
// waits until it is answered.
func TestARequestIsNotEnded(t *testing.T) {
	begun, release := make(chan bool), make(chan bool)
	l, _ := server(t, limit.Connections{Total: 1}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			begun <- true
			<-release
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	dial := dialer(t, l)
	slow := dial("127.0.0.2")
	if _, err := io.WriteString(slow, "GET /slow HTTP/1.1\r\nHost: kb.example\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	<-begun
	next := dial("127.0.0.3")
	if _, err := io.WriteString(next, "GET / HTTP/1.1\r\nHost: kb.example\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	release <- true
	if status := answerOn(t, slow); status != http.StatusNoContent {
		t.Errorf("the request that was under way: %d", status)
	}
	if status := answerOn(t, next); status != http.StatusNoContent {
		t.Errorf("the client that waited: %d", status)
	}
}

// begin sends the head of a request whose body does not come.
func begin(t *testing.T, c net.Conn, path, headers string) {
	t.Helper()
	head := "POST " + path + " HTTP/1.1\r\nHost: kb.example\r\nContent-Length: 10\r\n" + headers + "\r\n"
	if _, err := io.WriteString(c, head); err != nil {
		t.Fatal(err)
	}
}

// reader answers what it read of a body, or nothing of /unread; begun has its path.
func reader(begun chan string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun <- r.URL.Path
		if r.URL.Path != "/unread" {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				w.WriteHeader(http.StatusBadRequest)
				return
			}
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

// TestAnAnswerDoesNotWaitForABody: what is answered without its body is answered at
// once, and the connection ends; what was read goes on.
func TestAnAnswerDoesNotWaitForABody(t *testing.T) {
	begun := make(chan string, 100)
	l, became := server(t, limit.Connections{Total: 4}, reader(begun))
	dial := dialer(t, l)
	for _, body := range []string{"", "12345"} {
		c := dial("127.0.0.2")
		begin(t, c, "/unread", "")
		if _, err := io.WriteString(c, body); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusNoContent || !res.Close || !ends(c) {
			t.Errorf("after %q of a body: %d %v", body, res.StatusCode, res.Header)
		}
		until(became, http.StateClosed)
	}
	c := dial("127.0.0.2")
	for range 2 {
		begin(t, c, "/read", "")
		if _, err := io.WriteString(c, "1234567890"); err != nil {
			t.Fatal(err)
		}
		if status := answerOn(t, c); status != http.StatusNoContent {
			t.Errorf("a whole request: %d", status)
		}
		until(became, http.StateIdle)
	}
}

// TestARefusalIsReadWhileTheClientSends sends far more than a header may have, and a
// body that nobody reads: both clients read why they were refused.
func TestARefusalIsReadWhileTheClientSends(t *testing.T) {
	l, _ := server(t, limit.Connections{Total: 4}, reader(make(chan string, 100)))
	dial := dialer(t, l)
	long := strings.Repeat("x", limit.LingerBytes-1)
	for name, sent := range map[string]string{
		"431": "GET /?q=" + long,
		"204": "POST /unread HTTP/1.1\r\nHost: kb.example\r\nContent-Length: 9999999\r\n\r\n" + long,
		"400": "no request\r\n\r\n" + long,
	} {
		c := dial("127.0.0.2")
		if _, err := io.WriteString(c, sent); err != nil {
			t.Errorf("%s: sending: %v", name, err)
			continue
		}
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 "+name+" ") {
			t.Errorf("%s: %.60q, %v", name, answer, err)
		}
	}
}

// TestTheClientWithTheMostBodiesGivesWay fills a server with requests whose bodies do
// not come, three of them of one client behind a proxy: a new client is answered, for
// its oldest, until it has one left as all others have.
func TestTheClientWithTheMostBodiesGivesWay(t *testing.T) {
	proxies, err := limit.ParseProxies([]string{"127.0.0.9"})
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan string, 100)
	l, _ := server(t, limit.Connections{Total: 5, PerClient: 3, Proxies: proxies}, reader(begun))
	dial := dialer(t, l)
	held := map[string]net.Conn{}
	for _, h := range []struct{ name, from, of string }{
		{"one", "127.0.0.2", ""}, {"first", "127.0.0.9", "192.0.2.1"}, {"second", "127.0.0.9", "192.0.2.1"},
		{"third", "127.0.0.9", "192.0.2.1"}, {"other", "127.0.0.9", "192.0.2.2"},
	} {
		c := dial(h.from)
		begin(t, c, "/"+h.name, "X-Forwarded-For: "+h.of+"\r\n")
		<-begun
		held[h.name] = c
	}
	for _, ended := range []string{"first", "second"} {
		c := dial("127.0.0.6")
		if status := getOn(t, c, "/unread"); status != http.StatusNoContent {
			t.Fatalf("a new client: %d", status)
		}
		<-begun
		if !ends(held[ended]) {
			t.Errorf("the %s goes on", ended)
		}
		_ = c.Close()
		begin(t, dial("127.0.0.7"), "/"+ended, "") // in its place
		<-begun
	}
	for _, name := range []string{"one", "third", "other"} {
		if _, err := io.WriteString(held[name], "1234567890"); err != nil {
			t.Fatal(err)
		}
		if status := answerOn(t, held[name]); status != http.StatusNoContent {
			t.Errorf("%s: %d", name, status)
		}
	}
}

// TestBodiesOfAClientAreBounded: a client has no more of them behind a proxy than alone.
func TestBodiesOfAClientAreBounded(t *testing.T) {
	proxies, err := limit.ParseProxies([]string{"127.0.0.9"})
	if err != nil {
		t.Fatal(err)
	}
	begun, refused := make(chan string, 100), 0
	l, _ := server(t, limit.Connections{PerClient: 2, Proxies: proxies, Refused: func() { refused++ }}, reader(begun))
	dial := dialer(t, l)
	for range 2 {
		begin(t, dial("127.0.0.9"), "/read", "X-Forwarded-For: 192.0.2.1\r\n")
		<-begun
	}
	third := dial("127.0.0.9")
	begin(t, third, "/read", "X-Forwarded-For: 192.0.2.1\r\n")
	if status := answerOn(t, third); status != http.StatusServiceUnavailable || refused != 1 {
		t.Errorf("the third body: %d, %d refused", status, refused)
	}
	begin(t, dial("127.0.0.9"), "/read", "X-Forwarded-For: 192.0.2.2\r\n")
	<-begun
}

// TestAListenerEndsWhileBodiesAreAwaited: who stops does not wait for what may never come.
func TestAListenerEndsWhileBodiesAreAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		defer client.Close()
		come := make(visitors, 1)
		begun := make(chan string, 1)
		s := &http.Server{Handler: reader(begun)}
		l := limit.Connections{Total: 4}.Listen(come, s)
		served := make(chan error)
		go func() { served <- s.Serve(l) }()
		come <- conn
		begin(t, client, "/read", "")
		<-begun
		stopped := make(chan error)
		go func() { stopped <- s.Shutdown(t.Context()) }()
		if status := answerOn(t, client); status != http.StatusBadRequest {
			t.Errorf("a body that does not come: %d", status)
		}
		if err := errors.Join(<-stopped, ignore(<-served)); err != nil {
			t.Error(err)
		}
	})
}

func ignore(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// TestAListenerEndsWhileAClientWaits closes a full listener.
func TestAListenerEndsWhileAClientWaits(t *testing.T) {
	come, s := make(visitors, 2), &http.Server{}
	l := limit.Connections{Total: 1}.Listen(come, s)
	come <- visitor{from: "192.0.2.1"}
	come <- visitor{from: "192.0.2.2"}
	first, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	s.ConnState(first, http.StateActive)
	waits := make(chan error)
	go func() {
		_, err := l.Accept()
		waits <- err
	}()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; !errors.Is(err, net.ErrClosed) {
		t.Errorf("it ends with %v", err)
	}
}
