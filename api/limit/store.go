package limit

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/golang/groupcache/lru"
	"github.com/ulule/limiter/v3"
)

// MaxClients bounds the clients that NewStore keeps counts of for each name of a
// bucket: about 300 bytes each. Beyond it the client that called longest ago is
// forgotten.
const MaxClients = 100_000

// NewStore keeps counts in memory, each until its period is over. Those of a bucket
// do not displace those of another: a flood of calls forgets no failed login.
func NewStore() limiter.Store {
	return &buckets{made: func() *memory { return newMemory(MaxClients, time.Now) }, all: map[string]*memory{}}
}

// buckets has a memory for each bucket, whose name keys begin with.
type buckets struct {
	made func() *memory

	mu  sync.Mutex
	all map[string]*memory // guarded by mu
}

func (b *buckets) of(key string) *memory {
	name, _, _ := strings.Cut(key, ":")
	b.mu.Lock()
	defer b.mu.Unlock()
	m, ok := b.all[name]
	if !ok {
		m = b.made()
		b.all[name] = m
	}
	return m
}

func (b *buckets) Get(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return b.of(key).Get(ctx, key, rate)
}

func (b *buckets) Increment(ctx context.Context, key string, n int64, rate limiter.Rate) (limiter.Context, error) {
	return b.of(key).Increment(ctx, key, n, rate)
}

func (b *buckets) Peek(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return b.of(key).Peek(ctx, key, rate)
}

func (b *buckets) Reset(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return b.of(key).Reset(ctx, key, rate)
}

// memory is a limiter.Store of bounded size. ulule/limiter's own has no bound:
// whoever holds a large network of addresses could fill the memory.
type memory struct {
	now func() time.Time

	mu     sync.Mutex
	counts *lru.Cache // of *count by key; guarded by mu
}

type count struct {
	n     int64
	until time.Time
}

func newMemory(most int, now func() time.Time) *memory {
	return &memory{now: now, counts: lru.New(most)}
}

// Get counts a call and returns the state of the key.
func (m *memory) Get(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return m.Increment(ctx, key, 1, rate)
}

// Increment counts several calls.
func (m *memory) Increment(_ context.Context, key string, n int64, rate limiter.Rate) (limiter.Context, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.count(key, rate)
	c.n += n
	return state(c, rate), nil
}

// Peek returns the state of a key without counting.
func (m *memory) Peek(_ context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return state(m.count(key, rate), rate), nil
}

// Reset forgets the calls of a key.
func (m *memory) Reset(_ context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.count(key, rate)
	c.n = 0
	return state(c, rate), nil
}

// count returns the running count of a key, or begins one. mu is held.
func (m *memory) count(key string, rate limiter.Rate) *count {
	now := m.now()
	if c, ok := m.counts.Get(key); ok && now.Before(c.(*count).until) {
		return c.(*count)
	}
	c := &count{until: now.Add(rate.Period)}
	m.counts.Add(key, c)
	return c
}

func state(c *count, rate limiter.Rate) limiter.Context {
	return limiter.Context{
		Limit: rate.Limit, Remaining: max(0, rate.Limit-c.n), Reset: c.until.Unix(), Reached: c.n > rate.Limit,
	}
}
