package index

import (
	"sync"
	"time"
)

// pace measures how far a position is behind the head of a log in time, on the clock of
// this process alone.
type pace struct {
	mu      sync.Mutex
	current time.Time // everything of then is taken; zero: nothing was looked at
	awaited []sight   // of what is not, oldest first
}

// sight is a head of the log when it was seen.
type sight struct {
	head int64
	at   time.Time
}

// At most mostSights are kept, sightEvery apart: more than it takes to be late.
const (
	mostSights = 120
	sightEvery = time.Second
)

// look takes note of a position and of the head of the log.
func (p *pace) look(position, head int64, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.awaited) > 0 && position >= p.awaited[0].head {
		p.current, p.awaited = p.awaited[0].at, p.awaited[1:]
	}
	n := len(p.awaited)
	switch {
	case position >= head || p.current.IsZero():
		p.current, p.awaited = now, nil
	case n == 0 || n < mostSights && now.Sub(p.awaited[n-1].at) >= sightEvery:
		p.awaited = append(p.awaited, sight{head, now})
	}
}

// behind is the time since everything was taken.
func (p *pace) behind(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current.IsZero() {
		return 0
	}
	return now.Sub(p.current)
}
