package sqlstore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"almanac/catalog"
)

const (
	// pingPatience is the time that the database has for a ping.
	pingPatience = 2 * time.Second
	// pingEvery is how long an answer holds: whoever asks all the time costs little.
	pingEvery = 250 * time.Millisecond
	// wholeEvery is how often a damaged catalog is read as a whole, in case that it was
	// mended.
	wholeEvery = 10 * time.Second
)

// standing is whether a database answers.
type standing struct {
	damage atomic.Pointer[error] // what a read met; nil: nothing

	mu    sync.Mutex // held while the database is asked, so that one answer is for all who wait
	asked time.Time
	err   error
	whole time.Time // when everything was read
}

// Ping says whether reads are answered now: why not, if they are not. It takes two
// seconds at most, however often it is called. What a read met of damage counts until
// everything can be read again: a ping reads little. ErrUnreachable, ErrDamaged.
func (s *Store) Ping(ctx context.Context) error {
	p := &s.standing
	p.mu.Lock()
	defer p.mu.Unlock()
	if news := p.err == nil && p.damage.Load() != nil; !news && time.Since(p.asked) < pingEvery {
		return p.err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingPatience)
	defer cancel()
	err := s.Config.Ping(ctx)
	if ctx.Err() != nil {
		err = fmt.Errorf("no answer within %v: %w", pingPatience, catalog.ErrUnreachable)
	}
	if err = s.failure(context.Background(), "ping", err); err == nil {
		err = s.damaged(ctx)
	}
	p.asked, p.err = time.Now(), err
	return err
}

// damaged returns the damage that a read met, unless everything can be read by now.
func (s *Store) damaged(ctx context.Context) error {
	p := &s.standing
	damage := p.damage.Load()
	if damage == nil || s.Whole == nil {
		return nil
	}
	if time.Since(p.whole) < wholeEvery {
		return *damage
	}
	err := s.Whole(ctx)
	if p.whole = time.Now(); err != nil {
		return *damage
	}
	p.damage.CompareAndSwap(damage, nil)
	return nil
}
