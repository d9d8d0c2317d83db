// Package redistest starts Redis servers for tests.
package redistest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"almanac/testing/wait"
)

// Server is a Redis server that listens on a socket of its own.
type Server struct {
	dir     string
	process *exec.Cmd
}

// Start starts a server, which the test's end stops. Without Redis on the machine the
// test is skipped.
func Start(tb testing.TB) *Server {
	tb.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		tb.Skip("Redis is not installed (Debian: apt-get install redis-server)")
	}
	dir, err := os.MkdirTemp("", "redis") // a socket's path has 107 bytes at most
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{dir: dir}
	tb.Cleanup(func() {
		s.Stop()
		if err := os.RemoveAll(dir); err != nil {
			tb.Error(err)
		}
	})
	s.Again(tb)
	return s
}

// URL is the server's address.
func (s *Server) URL() string { return "unix://" + s.socket() }

func (s *Server) socket() string { return filepath.Join(s.dir, "socket") }

// Again starts a server that was stopped, empty.
func (s *Server) Again(tb testing.TB) {
	tb.Helper()
	s.process = exec.Command("redis-server", "--port", "0", "--unixsocket", s.socket(), "--save", "", "--appendonly", "no",
		"--dir", s.dir)
	s.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.process.Start(); err != nil {
		tb.Fatal(err)
	}
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: s.socket()})
	defer c.Close()
	wait.Until(tb, "Redis answers", func() bool { return c.Ping(context.Background()).Err() == nil })
}

// Stop kills the server.
func (s *Server) Stop() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}
