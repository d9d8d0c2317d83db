// Package httppipe connects clients and servers of HTTP without a network, so that
// both are in one bubble of testing/synctest and share its clock.
package httppipe

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Transport returns what sends every request, whatever its host, to a handler, those of
// https in plain text too. It ends with the test.
func Transport(tb testing.TB, h http.Handler) *http.Transport {
	tb.Helper()
	l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	var running sync.WaitGroup // the server and its connections
	server := &http.Server{Handler: h, ConnState: func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			running.Add(1)
		case http.StateClosed:
			running.Done()
		}
	}}
	running.Go(func() { _ = server.Serve(l) }) // closed below
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }
	t := &http.Transport{DialContext: dial, DialTLSContext: dial}
	tb.Cleanup(func() {
		t.CloseIdleConnections()
		_ = server.Close()
		running.Wait()
	})
	return t
}

// listener accepts one end of each pipe.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return address{} }

// address is that of every pipe.
type address struct{}

func (address) Network() string { return "pipe" }
func (address) String() string  { return "pipe" }
