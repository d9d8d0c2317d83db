package outbound

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// TestGuardHoldsAgainstRebinding gives a name an address that changes between
// a first look and the connection.
func TestGuardHoldsAgainstRebinding(t *testing.T) {
	var asked atomic.Int32
	url := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))

	addresses := [][4]byte{{127, 0, 0, 1}}
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go answer(far, addresses)
		return near, nil
	}}
	guarded := New(Config{Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	defer guarded.Close()
	guarded.dialer.Resolver = resolver
	request := Request{URL: "http://rebind.example.org:" + port}
	if _, err := guarded.Do(t.Context(), request); !errors.Is(err, ErrRefused) {
		t.Errorf("a name of a loopback address: %v", err)
	}
	// Both addresses at once, as rebinding servers answer: whichever is tried, loopback never is.
	addresses = [][4]byte{{10, 255, 255, 1}, {127, 0, 0, 1}}
	if _, err := guarded.Do(t.Context(), request); !errors.Is(err, ErrRefused) {
		t.Errorf("a name of two private addresses: %v", err)
	}
	if asked.Load() != 0 {
		t.Errorf("the internal server got %d requests", asked.Load())
	}
	allowed, _ := client(t, Config{})
	allowed.dialer.Resolver = resolver
	addresses = [][4]byte{{127, 0, 0, 1}}
	if _, err := allowed.Do(t.Context(), request); err != nil || asked.Load() != 1 {
		t.Errorf("allowed: %v, %d requests", err, asked.Load())
	}
}

// answer is a name server on a stream (RFC 1035, 4.2.2) that gives every name
// the same IPv4 addresses.
func answer(conn net.Conn, addresses [][4]byte) {
	defer conn.Close()
	for {
		var size uint16
		if binary.Read(conn, binary.BigEndian, &size) != nil {
			return
		}
		raw := make([]byte, size)
		if _, err := io.ReadFull(conn, raw); err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(raw) != nil {
			return
		}
		m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
		if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
			for _, a := range addresses {
				m.Answers = append(m.Answers, dnsmessage.Resource{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
					Body:   &dnsmessage.AResource{A: a},
				})
			}
		}
		packed, err := m.Pack()
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))),
			packed...)); err != nil {
			return
		}
	}
}
