package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"almanac/testing/soak"
	"almanac/testing/wait"
)

const (
	halfHeaders = 5_000   // connections that never finish their header
	halfHeader  = 125_000 // bytes of each
)

// TestHalfHeadersTakeLittleMemory sends headers that never end from one address,
// several times what the server may take for them, twice, and then asks from another.
// The server's collector lets no garbage lie: what is measured is what lives.
func TestHalfHeadersTakeLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand connections; not with -short")
	}
	t.Parallel()
	s := start(t, environ(t.TempDir(), "GOMEMLIMIT=64MiB"), "--data", t.TempDir())
	s.ready(t)
	before := s.memory("VmRSS")
	if before == 0 {
		t.Skip("only where /proc is")
	}
	headers := soak.Rounds(halfHeaders)
	peak := s.flood(t, headers, 1, 2)
	if grown := peak - before; grown > 50 {
		t.Errorf("%d half headers take %d MB more than the %d MB before", headers, grown, before)
	}
	t.Logf("resident memory: %d MB, at most %d MB", before, peak)
	if status, _, body := s.get(t, "/api/v1/cips"); status != 200 {
		t.Errorf("afterwards: %d %s", status, body)
	}
}

// BenchmarkHalfHeaders reports the resident memory of a server before and under
// 5,000 headers that never end, from one client and from 250.
func BenchmarkHalfHeaders(b *testing.B) {
	for _, clients := range []int{1, 250} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			s := start(b, environ(b.TempDir()), "--data", b.TempDir())
			s.ready(b)
			before := s.memory("VmRSS")
			for range b.N {
				b.ReportMetric(float64(s.flood(b, halfHeaders, clients, 2)), "MB-peak")
			}
			b.ReportMetric(float64(before), "MB-before")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// flood opens connections with half a header from addresses of 127.0.0.0/8 in
// waves and returns the server's greatest resident memory meanwhile, in MB.
func (s *server) flood(tb testing.TB, headers, clients, waves int) int {
	tb.Helper()
	head := fmt.Appendf(nil, "GET /health HTTP/1.1\r\nHost: localhost\r\nX: %s", strings.Repeat("x", halfHeader))
	s.forgetPeak(tb)
	for range waves {
		var open []net.Conn
		var mu sync.Mutex
		var wg sync.WaitGroup
		const parallel = 50
		for part := range parallel {
			wg.Go(func() {
				for i := part; i < headers; i += parallel {
					from := net.IPv4(127, 0, 1, byte(1+i%clients))
					d := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: wait.Bound}
					conn, err := d.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
					if err != nil {
						continue // refused
					}
					_ = conn.SetWriteDeadline(time.Now().Add(wait.Bound))
					_, _ = conn.Write(head) // the server may have closed it
					mu.Lock()
					open = append(open, conn)
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		for _, conn := range open {
			_ = conn.Close()
		}
	}
	return s.memory("VmHWM")
}

// forgetPeak makes VmHWM what is resident now, see man 5 proc.
func (s *server) forgetPeak(tb testing.TB) {
	if err := os.WriteFile(s.proc("clear_refs"), []byte("5"), 0o200); err != nil {
		tb.Skip("only where /proc is:", err)
	}
}

// memory returns a size of the server's process in MB: VmRSS, what is resident now,
// or VmHWM, what was at most; 0 where there is no /proc.
func (s *server) memory(what string) int {
	status, _ := os.ReadFile(s.proc("status"))
	return megabytes(string(status), what)
}

// megabytes reads a size of a process's status.
func megabytes(status, what string) int {
	_, after, _ := strings.Cut(status, what+":")
	kb, _ := strconv.Atoi(strings.Fields(after + " 0")[0])
	return kb >> 10
}

func (s *server) proc(file string) string { return fmt.Sprintf("/proc/%d/%s", s.cmd.Process.Pid, file) }
