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
			go pass(ctx, cancel, near, to, every)
		}
	}()
	_, port, err = net.SplitHostPort(l.Addr().String())
	return port, err
}

// pass connects a connection with an address until either side ends it. If the
// address sends too little in a period, it cancels, and only then closes: git, which
// notices that, could end before its reason is known.
func pass(ctx context.Context, cancel context.CancelCauseFunc, near net.Conn, to netip.AddrPort, period time.Duration) {
	defer near.Close()
	far, err := (&net.Dialer{}).DialContext(ctx, "tcp", to.String())
	if err != nil {
		return // git says so
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
			return
		case <-ticks.C:
			if float64(received.Swap(0)) < outbound.MinRate*period.Seconds() {
				cancel(fmt.Errorf("%w: the server sends less than %d bytes per second for %v", outbound.ErrTimeout,
					outbound.MinRate, period))
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// counter counts what is written to it.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}
