package stack

import (
	"context"
	"sync"
	"time"
)

// users counts the users of something that will be closed once they have left.
type users struct {
	mu     sync.Mutex
	n      int
	left   time.Time     // when the last did
	gone   chan struct{} // closed when the last leaves; nil: nobody waits for that
	closed bool          // nobody may begin
}

// enter adds a user, unless it is closed.
func (u *users) enter() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return false
	}
	u.n++
	return true
}

func (u *users) leave() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.n--; u.n > 0 {
		return
	}
	u.left = time.Now()
	if u.gone != nil {
		close(u.gone)
		u.gone = nil
	}
}

// quiet waits until there have been none for calm, but no longer than most: users may
// never cease to come. It reports whether that is so.
func (u *users) quiet(ctx context.Context, calm, most time.Duration) bool {
	var late <-chan time.Time
	for {
		u.mu.Lock()
		if u.n > 0 && u.gone == nil {
			u.gone = make(chan struct{})
		}
		gone, rest := u.gone, calm-time.Since(u.left)
		u.mu.Unlock()
		if gone == nil && rest <= 0 {
			return true
		}
		if late == nil {
			late = time.After(most)
		}
		var calmed <-chan time.Time
		if gone == nil {
			calmed = time.After(rest)
		}
		select {
		case <-gone:
		case <-calmed:
		case <-late:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// drain refuses further users and waits until all have left. The error is that of the
// context.
func (u *users) drain(ctx context.Context) error {
	u.mu.Lock()
	u.closed = true
	if u.n > 0 && u.gone == nil {
		u.gone = make(chan struct{})
	}
	gone := u.gone
	u.mu.Unlock()
	if gone == nil {
		return nil
	}
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
