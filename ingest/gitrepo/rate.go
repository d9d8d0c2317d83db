package gitrepo

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"almanac/ingest/outbound"
)

// slow is how long a server may send less than outbound.MinRate on average: while
// it packs what was asked for, it sends next to nothing.
var slow = 2 * time.Minute

// webRate has git itself, which speaks HTTP, end a slow transfer.
func webRate() []string {
	return []string{"-c", "http.lowSpeedLimit=" + strconv.Itoa(outbound.MinRate),
		"-c", "http.lowSpeedTime=" + strconv.Itoa(int(max(slow, time.Second)/time.Second))}
}

// relay returns a port of this machine from which each connection leads to an
// address, until ctx is done. For the protocols that git cannot time itself:
// when what the server sends is too slow, cancel is called with the reason.
func relay(ctx context.Context, cancel context.CancelCauseFunc, to netip.AddrPort) (port string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	every := slow
	context.AfterFunc(ctx, func() { _ = l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				if err := pass(ctx, near, to, every); err != nil {
					cancel(err)
				}
			}()
		}
	}()
	_, port, err = net.SplitHostPort(l.Addr().String())
	return port, err
}

// pass connects a connection with an address until either side ends it. The error
// is that the address sent too little in a period.
func pass(ctx context.Context, near net.Conn, to netip.AddrPort, period time.Duration) error {
	defer near.Close()
	far, err := (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
	if err != nil {
		return nil // git says so
	}
	defer far.Close()
	var received atomic.Int64
	sent, answered := make(chan struct{}), make(chan struct{})
	copyTo := func(to net.Conn, from io.Reader, done chan<- struct{}) {
		_, _ = io.Copy(to, from) // git says what it misses
		_ = to.(*net.TCPConn).CloseWrite()
		close(done)
	}
	go copyTo(far, near, sent)
	go copyTo(near, io.TeeReader(far, counter{&received}), answered)
	ticks := time.NewTicker(period)
	defer ticks.Stop()
	for {
		select {
		case <-answered: // git reads what is left, and closes
			select {
			case <-sent:
			case <-ctx.Done():
			}
			return nil
		case <-ticks.C:
			if float64(received.Swap(0)) < outbound.MinRate*period.Seconds() {
				return fmt.Errorf("%w: the server sends less than %d bytes per second for %v", outbound.ErrTimeout,
					outbound.MinRate, period)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// counter counts what is written to it.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}
