package limit

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang/groupcache/lru"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/ulule/limiter/v3"
	sharedstore "github.com/ulule/limiter/v3/drivers/store/redis"
)

// MaxClients bounds the clients that NewStore keeps counts of for each name of a
// bucket: about 300 bytes each. Beyond it the client that called longest ago is
// forgotten.
const MaxClients = 100_000

// NewStore keeps counts in memory, each until its period is over.
func NewStore() limiter.Store { return newMemory(MaxClients, time.Now) }

// memory is a limiter.Store of bounded size. ulule/limiter's own has no bound:
// whoever holds a large network of addresses could fill the memory. The counts of a
// bucket, whose name keys begin with, do not displace those of another: a flood of
// calls forgets no failed login.
type memory struct {
	most int // counts of a bucket
	now  func() time.Time

	mu      sync.Mutex
	buckets map[string]*lru.Cache // of *count by key; guarded by mu
}

type count struct {
	n     int64
	until time.Time
}

func newMemory(most int, now func() time.Time) *memory {
	return &memory{most: most, now: now, buckets: map[string]*lru.Cache{}}
}

// Get counts a call and returns the state of the key.
func (m *memory) Get(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return m.Increment(ctx, key, 1, rate)
}

// Increment counts several calls.
func (m *memory) Increment(_ context.Context, key string, n int64, rate limiter.Rate) (limiter.Context, error) {
	return m.change(key, rate, func(c *count) { c.n += n }), nil
}

// Peek returns the state of a key without counting.
func (m *memory) Peek(_ context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return m.change(key, rate, func(*count) {}), nil
}

// Reset forgets the calls of a key.
func (m *memory) Reset(_ context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return m.change(key, rate, func(c *count) { c.n = 0 }), nil
}

// change changes the running count of a key, or one that it begins, and returns the state.
func (m *memory) change(key string, rate limiter.Rate, change func(*count)) limiter.Context {
	m.mu.Lock()
	defer m.mu.Unlock()
	name, _, _ := strings.Cut(key, ":")
	bucket := m.buckets[name]
	if bucket == nil {
		bucket = lru.New(m.most)
		m.buckets[name] = bucket
	}
	now := m.now()
	known, ok := bucket.Get(key)
	c, _ := known.(*count)
	if !ok || !now.Before(c.until) {
		c = &count{until: now.Add(rate.Period)}
		bucket.Add(key, c)
	}
	change(c)
	return limiter.Context{
		Limit: rate.Limit, Remaining: max(0, rate.Limit-c.n), Reset: c.until.Unix(), Reached: c.n > rate.Limit,
	}
}

const (
	// patience is the time that Redis has for a command: more would be felt in
	// every answer.
	patience = 250 * time.Millisecond
	// pause is how long a server that failed is left alone.
	pause = time.Second
)

// SharedConfig locates counts that replicas share.
type SharedConfig struct {
	URL    string // redis://, rediss:// or unix://, with user, password and number of the database
	Prefix string // of the keys: networks of different prefixes count apart
	Log    *slog.Logger
	Now    func() time.Time // nil = time.Now
}

// Shared keeps counts in Redis. While the server is away, each replica counts for
// itself, in memory.
type Shared struct {
	cfg    SharedConfig
	client *redis.Client
	own    limiter.Store

	mu    sync.Mutex
	store limiter.Store // nil until the server has been reached
	again time.Time     // when a server that failed is asked again
	away  atomic.Bool
}

var _ limiter.Store = (*Shared)(nil)

// CheckShared looks at the address of a server without calling it.
func CheckShared(url string) error {
	_, err := parse(url)
	return err
}

func parse(url string) (*redis.Options, error) {
	to, err := redis.ParseURL(url)
	if err != nil { // its text may have the password
		return nil, errors.New("want redis://HOST:PORT/NUMBER, rediss:// for TLS, or unix:///PATH")
	}
	return to, nil
}

// NewShared makes the store. The server is asked at the first call.
func NewShared(cfg SharedConfig) (*Shared, error) {
	to, err := parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	to.DialTimeout, to.ReadTimeout, to.WriteTimeout, to.PoolTimeout = patience, patience, patience, patience
	to.MaxRetries = -1 // none: calls are counted here meanwhile
	to.ContextTimeoutEnabled = true
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Shared{cfg: cfg, client: redis.NewClient(to), own: NewStore()}, nil
}

// The library prints what it also returns.
func init() { logging.Disable() }

// Close ends the connections.
func (s *Shared) Close() error { return s.client.Close() }

// Away reports whether calls are counted in this process.
func (s *Shared) Away() bool { return s.away.Load() }

// Reach asks Redis whether calls can be counted there.
func (s *Shared) Reach(ctx context.Context) error { return s.client.Ping(ctx).Err() }

// Get counts a call.
func (s *Shared) Get(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return s.ask(ctx, func(in limiter.Store) (limiter.Context, error) { return in.Get(ctx, key, rate) })
}

// Increment counts n calls.
func (s *Shared) Increment(ctx context.Context, key string, n int64, rate limiter.Rate) (limiter.Context, error) {
	return s.ask(ctx, func(in limiter.Store) (limiter.Context, error) { return in.Increment(ctx, key, n, rate) })
}

// Peek counts none.
func (s *Shared) Peek(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return s.ask(ctx, func(in limiter.Store) (limiter.Context, error) { return in.Peek(ctx, key, rate) })
}

// Reset forgets a client.
func (s *Shared) Reset(ctx context.Context, key string, rate limiter.Rate) (limiter.Context, error) {
	return s.ask(ctx, func(in limiter.Store) (limiter.Context, error) { return in.Reset(ctx, key, rate) })
}

// ask asks Redis, or counts here while that is away.
func (s *Shared) ask(ctx context.Context, of func(limiter.Store) (limiter.Context, error)) (limiter.Context, error) {
	shared, err := s.reach()
	if err == nil && shared != nil {
		var state limiter.Context
		if state, err = of(shared); err == nil {
			s.back()
			return state, nil
		}
	}
	if err != nil && ctx.Err() == nil {
		s.leave(err)
	}
	return of(s.own)
}

// reach returns the store in Redis; nil while the server is left alone.
func (s *Shared) reach() (limiter.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.cfg.Now().Before(s.again):
		return nil, nil
	case s.store != nil:
		if s.away.Load() {
			s.again = s.cfg.Now().Add(pause) // one call tries
		}
		return s.store, nil
	}
	s.again = s.cfg.Now().Add(pause)
	store, err := sharedstore.NewStoreWithOptions(s.client, limiter.StoreOptions{Prefix: s.cfg.Prefix})
	if err == nil {
		s.store, s.again = store, time.Time{}
	}
	return store, err
}

// leave leaves a server alone that failed.
func (s *Shared) leave(err error) {
	s.mu.Lock()
	s.again = s.cfg.Now().Add(pause)
	s.mu.Unlock()
	if !s.away.Swap(true) {
		s.cfg.Log.Warn("Redis is away: each server counts calls for itself", "error", err)
	}
}

// back goes on with a server that answered.
func (s *Shared) back() {
	if !s.away.Load() {
		return
	}
	s.mu.Lock()
	s.again = time.Time{}
	s.mu.Unlock()
	if s.away.Swap(false) {
		s.cfg.Log.Info("Redis is back: servers count calls together")
	}
}
