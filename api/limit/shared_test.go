package limit_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"almanac/api/limit"
	"almanac/testing/redistest"
)

// clock is moved by the test.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.at.Load()) }
func (c *clock) pass(by time.Duration)   { c.at.Add(int64(by)) }
func newClock() *clock                   { c := &clock{}; c.at.Store(time.Now().UnixNano()); return c }
func call(b *limit.Bucket) (passed bool) { return taken(b) == "" }

func taken(b *limit.Bucket) string {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "192.0.2.7:1000"
	refusal, _ := b.Take(http.Header{}, r)
	return refusal
}

// replica is a bucket of 60 calls as each replica has one.
func replica(t *testing.T, url string, log *bytes.Buffer, c *clock) (*limit.Bucket, *limit.Shared) {
	t.Helper()
	s, err := limit.NewShared(limit.SharedConfig{URL: url, Prefix: "buoys", Log: slog.New(slog.NewTextHandler(log, nil)),
		Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return limit.New(limit.Config{Name: "rest", Calls: 60, Store: s}), s
}

// TestReplicasCountTogether holds that sixty calls are sixty, whichever replicas get
// them.
func TestReplicasCountTogether(t *testing.T) {
	server := redistest.Start(t)
	var passed atomic.Int64
	var calling sync.WaitGroup
	for range 3 {
		b, _ := replica(t, server.URL(), &bytes.Buffer{}, newClock())
		for range 4 {
			calling.Go(func() {
				for range 20 {
					if call(b) {
						passed.Add(1)
					}
				}
			})
		}
	}
	calling.Wait()
	if passed.Load() != 60 {
		t.Errorf("%d of 240 calls passed, want 60", passed.Load())
	}
}

// TestRedisGoesAndComesBack holds that without Redis each replica counts for itself,
// that this is said once, and that the next second asks again.
func TestRedisGoesAndComesBack(t *testing.T) {
	server, c, log := redistest.Start(t), newClock(), &bytes.Buffer{}
	one, store := replica(t, server.URL(), log, c)
	other, _ := replica(t, server.URL(), log, c)
	for range 60 {
		if !call(one) {
			t.Fatal("a call was refused below the limit")
		}
	}
	if call(other) {
		t.Error("the other replica does not know of the calls")
	}
	server.Stop()
	log.Reset()
	passed := 0
	for range 70 {
		if call(one) {
			passed++
		}
		c.pass(100 * time.Millisecond) // several attempts, none of which is said
	}
	if passed != 60 || !store.Away() || strings.Count(log.String(), "Redis is away") != 1 {
		t.Errorf("%d calls passed, away %v, said:\n%s", passed, store.Away(), log)
	}
	server.Again(t)
	c.pass(time.Minute)
	if !call(one) || store.Away() || strings.Count(log.String(), "Redis is back") != 1 {
		t.Errorf("it is back; away %v, said:\n%s", store.Away(), log)
	}
}

// TestStartsWithoutRedis has the server come later.
func TestStartsWithoutRedis(t *testing.T) {
	server, c, log := redistest.Start(t), newClock(), &bytes.Buffer{}
	server.Stop()
	b, store := replica(t, server.URL(), log, c)
	if !call(b) || !store.Away() {
		t.Error("no call without Redis")
	}
	server.Again(t)
	c.pass(time.Minute)
	if !call(b) || store.Away() {
		t.Error("Redis is not noticed")
	}
}

func TestAnAddressOfRedisIsNotTold(t *testing.T) {
	for _, url := range []string{"http://buoy:tide-secret@harbour.example", "redis://buoy:tide-secret@[::1",
		"tide-secret"} {
		_, err := limit.NewShared(limit.SharedConfig{URL: url})
		if err == nil || strings.Contains(err.Error(), "tide-secret") || !strings.Contains(err.Error(), "want redis://") {
			t.Errorf("%s: %v", url, err)
		}
	}
}
