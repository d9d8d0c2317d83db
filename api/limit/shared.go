package limit

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/ulule/limiter/v3"
	sharedstore "github.com/ulule/limiter/v3/drivers/store/redis"
)

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
