package limit

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"almanac/retrieval"
)

// ErrBusy is the error of a search that was refused: trying again soon can help.
var ErrBusy = errors.New("too many searches at once")

// Searches bounds how many searches run at once.
type Searches struct {
	Running   int // searches at once
	PerClient int // of them of one client; an expensive one counts as so many
	Waiting   int // searches that may wait for a place, half of them of one client
	// Patience is how long a search waits: longer than an ordinary burst takes,
	// shorter than a person would wait.
	Patience time.Duration
}

// StandardSearches are the limits for this machine: a client may use half of the places. A
// search uses more than one core only for moments, and none while it waits for a
// server.
func StandardSearches() Searches {
	cores := runtime.GOMAXPROCS(0)
	return Searches{Running: 2 * cores, PerClient: cores, Waiting: 256, Patience: 2 * time.Second}
}

// Searcher admits the searches of another one. Searches beyond what the machine
// can do wait a moment and are then refused. Every client has a share of its own: one
// that sends the most expensive query as fast as it can delays only itself.
type Searcher struct {
	retrieval.Searcher
	limits Searches

	mu      sync.Mutex
	running int
	clients map[string]int // searches that run, by client
	queue   []*waiter      // in the order of arrival
}

// waiter is a search that waits for a place; granted is closed when it has one.
type waiter struct {
	client  string
	weight  int
	granted chan struct{}
}

// NewSearcher returns a searcher with limits.
func NewSearcher(s retrieval.Searcher, limits Searches) *Searcher {
	return &Searcher{Searcher: s, limits: limits, clients: map[string]int{}}
}

type clientKey struct{}

// WithClient returns a context whose searches are those of one client; without,
// all are of the same, which may use every place.
func WithClient(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, clientKey{}, key)
}

// ClientOf returns the client of a context; "" for none.
func ClientOf(ctx context.Context) string {
	key, _ := ctx.Value(clientKey{}).(string)
	return key
}

// Search implements retrieval.Searcher. It returns ErrBusy for a search that
// would have to wait for too long or behind too many.
func (s *Searcher) Search(ctx context.Context, r retrieval.Request) (retrieval.Response, error) {
	key := ClientOf(ctx)
	weight := s.weight(r)
	if err := s.enter(ctx, key, weight); err != nil {
		return retrieval.Response{}, err
	}
	defer s.leave(key, weight)
	return s.Searcher.Search(ctx, r)
}

// expensive is the length of a query, in bytes, above which it may take several times
// as long as what people type. Phrases may take that long at any length.
const expensive = 120

// weight is the number of searches that a search counts as: an expensive one
// takes all that its client has.
func (s *Searcher) weight(r retrieval.Request) int {
	if len(r.Query) > expensive || strings.Contains(r.Query, `"`) {
		return s.limits.PerClient
	}
	return 1
}

// enter waits for a place.
func (s *Searcher) enter(ctx context.Context, key string, weight int) error {
	w, err := s.register(key, weight)
	if w == nil || err != nil {
		return err
	}
	timer := time.NewTimer(s.limits.Patience)
	defer timer.Stop()
	select {
	case <-w.granted:
		return nil
	case <-timer.C:
		err = ErrBusy
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.queue, w)
	if at < 0 {
		return nil // it was granted meanwhile
	}
	s.queue = slices.Delete(s.queue, at, at+1)
	return err
}

// register gives a search a place (no waiter), or puts it at the end of the queue.
func (s *Searcher) register(key string, weight int) (*waiter, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.admits(key, weight) {
		s.run(key, weight)
		return nil, nil
	}
	waiting := 0
	for _, w := range s.queue {
		if w.client == key {
			waiting++
		}
	}
	if len(s.queue) >= s.limits.Waiting || key != "" && waiting >= s.limits.Waiting/2 {
		return nil, ErrBusy
	}
	w := &waiter{key, weight, make(chan struct{})}
	s.queue = append(s.queue, w)
	return w, nil
}

// admits reports whether a client may have so many more places.
func (s *Searcher) admits(key string, weight int) bool {
	return s.running+weight <= s.limits.Running &&
		(key == "" || s.clients[key]+weight <= s.limits.PerClient)
}

// leave passes the place to the first in the queue whose client may have it.
func (s *Searcher) leave(key string, weight int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run(key, -weight)
	for i := 0; i < len(s.queue) && s.running < s.limits.Running; i++ {
		w := s.queue[i]
		if !s.admits(w.client, w.weight) {
			continue
		}
		s.queue = slices.Delete(s.queue, i, i+1)
		i--
		s.run(w.client, w.weight)
		close(w.granted)
	}
}

// run counts so many more searches of a client that run.
func (s *Searcher) run(key string, weight int) {
	s.running += weight
	if s.clients[key] += weight; s.clients[key] == 0 {
		delete(s.clients, key)
	}
}
