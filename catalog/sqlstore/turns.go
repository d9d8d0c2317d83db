package sqlstore

import (
	"container/heap"
	"context"
	"sync"
	"time"

	"almanac/catalog"
)

// turns admits a number of reads at once. Of those that wait, that of the oldest
// request is next (catalog.Start). Package sql would choose at random, before each
// of the reads that an answer takes.
type turns struct {
	mu      sync.Mutex
	free    int
	waiting waiting
}

// turn is a read that waits; admitted is closed when it may begin.
type turn struct {
	start    time.Time // of its request
	admitted chan struct{}
	at       int // in waiting; -1: admitted
}

// take waits until the read may begin; give follows it. The error is that of the
// context.
func (x *turns) take(ctx context.Context) error {
	x.mu.Lock()
	if x.free > 0 {
		x.free--
		x.mu.Unlock()
		return nil
	}
	start, ok := catalog.Start(ctx)
	if !ok {
		start = time.Now()
	}
	t := &turn{start: start, admitted: make(chan struct{})}
	heap.Push(&x.waiting, t)
	x.mu.Unlock()
	select {
	case <-t.admitted:
		return nil
	case <-ctx.Done():
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if t.at < 0 {
		x.next()
	} else {
		heap.Remove(&x.waiting, t.at)
	}
	return ctx.Err()
}

// give ends a read.
func (x *turns) give() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.next()
}

// next passes a place on; mu is held.
func (x *turns) next() {
	if len(x.waiting) == 0 {
		x.free++
		return
	}
	close(heap.Pop(&x.waiting).(*turn).admitted)
}

// waiting implements heap.Interface: the oldest request first.
type waiting []*turn

func (w waiting) Len() int           { return len(w) }
func (w waiting) Less(i, j int) bool { return w[i].start.Before(w[j].start) }
func (w waiting) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].at, w[j].at = i, j
}

func (w *waiting) Push(t any) {
	t.(*turn).at = len(*w)
	*w = append(*w, t.(*turn))
}

func (w *waiting) Pop() any {
	last := len(*w) - 1
	t := (*w)[last]
	t.at = -1
	(*w)[last] = nil
	*w = (*w)[:last]
	return t
}
