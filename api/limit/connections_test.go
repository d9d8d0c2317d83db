package limit_test

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
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

// listen serves the connections of a bounded listener and reports each.
func listen(t *testing.T, c limit.Connections) (net.Listener, chan net.Conn) {
	t.Helper()
	bare, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, accepted := c.Listen(bare), make(chan net.Conn, 100)
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

func TestConnectionsInAllAreBounded(t *testing.T) {
	l, accepted := listen(t, limit.Connections{Total: 2})
	dial := dialer(t, l)
	for _, from := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"} {
		dial(from)
	}
	first := <-accepted
	<-accepted
	select {
	case <-accepted:
		t.Error("a third is accepted")
	case <-time.After(50 * time.Millisecond):
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	<-accepted // the one that waited
}
