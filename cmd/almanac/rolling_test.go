package main

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"almanac/testing/postgrestest"
	"almanac/testing/wait"
)

// earlier builds the program of the commit before the newest migration on PostgreSQL.
func earlier(t *testing.T) string {
	t.Helper()
	git := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "git", args...).Output()
		if err != nil {
			t.Skipf("git %s: %v: there is no history to build an earlier program from", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	migrations, err := filepath.Glob("../../catalog/migrations/postgres/*.sql")
	if err != nil || len(migrations) < 2 {
		t.Fatal(migrations, err)
	}
	newest := migrations[len(migrations)-1]
	added := git("log", "-1", "--format=%H", "--diff-filter=A", "--", newest)
	if added == "" {
		t.Skipf("no commit adds %s", newest)
	}
	dir := t.TempDir()
	archive, source := filepath.Join(dir, "source.tar"), filepath.Join(dir, "source")
	git("-C", "../..", "archive", "-o", archive, added+"^")
	if err := os.Mkdir(source, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "almanac")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./cmd/almanac")
	build.Dir = source
	for _, c := range []*exec.Cmd{exec.CommandContext(t.Context(), "tar", "-xf", archive, "-C", source), build} {
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c, err, out)
		}
	}
	return path
}

// balancer sends searches to the servers that are ready, in turn.
type balancer struct {
	t *testing.T

	mu       sync.Mutex // guards what follows
	servers  []*server
	next     int
	busy     map[*server]int // searches under way
	answered map[*server]int
}

// add gives the balancer a server.
func (b *balancer) add(s *server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers = append(b.servers, s)
}

// remove takes a server away that drains, as soon as it has no search any more.
func (b *balancer) remove(s *server) {
	wait.Until(b.t, "a server that stops is not ready", func() bool { return !ready(s) })
	b.mu.Lock()
	b.servers = slices.DeleteFunc(b.servers, func(o *server) bool { return o == s })
	b.mu.Unlock()
	wait.Until(b.t, "a server that stops gets no searches", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.busy[s] == 0
	})
}

func ready(s *server) bool {
	res, err := client.Get(s.base + "/ready")
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// take returns the next server that is ready, or nil.
func (b *balancer) take() *server {
	for range 6 {
		b.mu.Lock()
		b.next++
		s := b.servers[b.next%len(b.servers)]
		b.busy[s]++
		b.mu.Unlock()
		if ready(s) {
			return s
		}
		b.mu.Lock()
		b.busy[s]--
		b.mu.Unlock()
	}
	return nil
}

// load searches with two clients until ctx ends.
func (b *balancer) load(ctx context.Context) {
	var clients sync.WaitGroup
	for n := range 2 {
		clients.Go(func() {
			pace := time.NewTicker(20 * time.Millisecond) // as people search: the machine has other work
			defer pace.Stop()
			for ; ctx.Err() == nil; n++ {
				s := b.take()
				if s == nil {
					b.t.Error("no server is ready")
					return
				}
				res, err := client.Get(s.base + "/api/v1/search?q=" + url.QueryEscape(queries[n%len(queries)]))
				if err != nil {
					b.t.Errorf("a search: %v", err)
				} else if res.Body.Close(); res.StatusCode != http.StatusOK {
					b.t.Errorf("a search: %d", res.StatusCode)
				}
				b.mu.Lock()
				b.busy[s]--
				b.answered[s]++
				b.mu.Unlock()
				<-pace.C
			}
		})
	}
	clients.Wait()
}

// TestARollingUpgradeFailsNoSearch replaces three servers of the program before the newest
// schema by three of this one, one after the other, while people search.
func TestARollingUpgradeFailsNoSearch(t *testing.T) {
	t.Parallel()
	before, now := earlier(t), program(t)
	at := newSite(t, 12, "ALMANAC_CATALOG_URL="+postgrestest.Database(t), "ALMANAC_SERVER_DRAIN_DELAY=1h")
	enter := func(program string) *server {
		s := startProgram(t, at.env, program, at.elsewhere(t).args()...)
		s.ready(t)
		return s
	}
	b := &balancer{t: t, busy: map[*server]int{}, answered: map[*server]int{}}
	var old []*server
	for range 3 {
		s := enter(before)
		b.add(s)
		old = append(old, s)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	loaded := make(chan struct{})
	go func() { defer close(loaded); b.load(ctx) }()
	for i, s := range old {
		fresh := enter(now)
		b.add(fresh)
		at.write(t, 14+8*i)
		at.run(t, "sync") // by whoever writes now, be it of the program before
		wait.Until(t, "the new one is asked", func() bool {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.answered[fresh] > 0
		})
		s.signal(t, syscall.SIGTERM)
		b.remove(s)
		s.kill()
	}
	at.write(t, 38)
	at.run(t, "sync")
	wait.Until(t, "what came since is found everywhere", func() bool {
		return !slices.ContainsFunc(b.servers, func(s *server) bool { return !s.finds(t, 37) })
	})
	stop()
	<-loaded
	for _, s := range slices.Concat(old, b.servers) {
		if b.answered[s] == 0 {
			t.Error("a server answered no search")
		}
	}
}
