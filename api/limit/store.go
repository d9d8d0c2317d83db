package limit

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/ulule/limiter/v3"
)

// MaxClients bounds the clients that NewStore keeps counts of for each name of a
// bucket: about 300 bytes each. Beyond it the client whose period began first is
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
	max int
	now func() time.Time

	mu     sync.Mutex
	counts map[string]*count // guarded by mu
	order  []*count          // by begin of the period; guarded by mu
}

type count struct {
	key   string
	n     int64
	until time.Time
}

func newMemory(most int, now func() time.Time) *memory {
	return &memory{max: most, now: now, counts: map[string]*count{}}
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
	if c, ok := m.counts[key]; ok && now.Before(c.until) {
		return c
	}
	c := &count{key: key, until: now.Add(rate.Period)}
	m.counts[key] = c
	m.order = append(m.order, c)
	m.forget(now)
	return c
}

// forget drops counts whose period is over, and the first of those above max.
func (m *memory) forget(now time.Time) {
	for len(m.order) > 1 {
		first := m.order[0]
		renewed := m.counts[first.key] != first
		if !renewed && now.Before(first.until) && len(m.counts) <= m.max {
			return
		}
		if !renewed {
			delete(m.counts, first.key)
		}
		m.order[0] = nil
		m.order = m.order[1:]
	}
}

func state(c *count, rate limiter.Rate) limiter.Context {
	return limiter.Context{
		Limit: rate.Limit, Remaining: max(0, rate.Limit-c.n), Reset: c.until.Unix(), Reached: c.n > rate.Limit,
	}
}
