package main

import (
	"context"
	"fmt"
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

	mu       sync.Mutex
	servers  []*server
	next     int
	ready    map[*server]bool
	busy     map[*server]int // searches under way
	answered map[*server]int
}

// add gives the balancer a server.
func (b *balancer) add(s *server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers = append(b.servers, s)
}

// remove takes a server away that has no search any more.
func (b *balancer) remove(s *server) {
	wait.Until(b.t, "a server that stops gets no searches", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return !b.ready[s] && b.busy[s] == 0
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	b.servers = slices.DeleteFunc(b.servers, func(o *server) bool { return o == s })
}

// probe asks all servers whether they are ready.
func (b *balancer) probe() {
	b.mu.Lock()
	servers := slices.Clone(b.servers)
	b.mu.Unlock()
	for _, s := range servers {
		status := 0
		if res, err := client.Get(s.base + "/ready"); err == nil {
			status = res.StatusCode
			res.Body.Close()
		}
		b.mu.Lock()
		b.ready[s] = status == http.StatusOK
		b.mu.Unlock()
	}
}

// search sends a query to the next server that is ready.
func (b *balancer) search(query string) {
	b.mu.Lock()
	var s *server
	for range b.servers {
		b.next++
		if c := b.servers[b.next%len(b.servers)]; b.ready[c] {
			s = c
			break
		}
	}
	if s != nil {
		b.busy[s]++
	}
	b.mu.Unlock()
	if s == nil {
		b.t.Error("no server is ready")
		return
	}
	res, err := client.Get(s.base + "/api/v1/search?q=" + url.QueryEscape(query))
	status := 0
	if err == nil {
		status = res.StatusCode
		res.Body.Close()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.busy[s]--; status != http.StatusOK {
		b.t.Errorf("a search: %d %v", status, err)
	}
	b.answered[s]++
}

// load sends fifty searches a second until ctx ends, at most four at once, and probes as often.
func (b *balancer) load(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	tick := time.NewTicker(time.Second / 50)
	defer tick.Stop()
	wg.Go(func() {
		probes := time.NewTicker(time.Second / 50)
		defer probes.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-probes.C:
				b.probe()
			}
		}
	})
	places := make(chan struct{}, 4)
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		places <- struct{}{}
		wg.Go(func() {
			b.search(queries[n%len(queries)])
			<-places
		})
	}
}

// TestARollingUpgradeFailsNoSearch replaces three servers of the program before the newest
// schema by three of this one, one after the other, while people search.
func TestARollingUpgradeFailsNoSearch(t *testing.T) {
	t.Parallel()
	before, now := earlier(t), program(t)
	at := newSite(t, 12, "ALMANAC_CATALOG_URL="+postgrestest.Database(t), "ALMANAC_SERVER_DRAIN_DELAY=1h")
	enter := func(program string) *server {
		at.data = filepath.Join(t.TempDir(), "data")
		s := startProgram(t, at.env, program, at.args()...)
		s.ready(t)
		return s
	}
	b := &balancer{t: t, ready: map[*server]bool{}, busy: map[*server]int{}, answered: map[*server]int{}}
	var old []*server
	for range 3 {
		s := enter(before)
		b.add(s)
		old = append(old, s)
	}
	b.probe()
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
		if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
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
	var all []string
	for _, s := range slices.Concat(old, b.servers) {
		all = append(all, fmt.Sprint(b.answered[s]))
		if b.answered[s] == 0 {
			t.Error("a server answered no search")
		}
	}
	t.Logf("searches by server: %s", strings.Join(all, ", "))
}
