package embed

import (
	"container/list"
	"sync"
)

// recent keeps the most recently used vectors.
type recent struct {
	mu    sync.Mutex // guards both
	order *list.List // of recentEntry, most recently used first
	byKey map[cacheKey]*list.Element
	limit int
}

type recentEntry struct {
	key    cacheKey
	vector []float32
}

func newRecent(limit int) *recent {
	return &recent{order: list.New(), byKey: make(map[cacheKey]*list.Element), limit: limit}
}

// get returns nil for a key it does not have.
func (r *recent) get(k cacheKey) []float32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.byKey[k]
	if !ok {
		return nil
	}
	r.order.MoveToFront(e)
	return e.Value.(recentEntry).vector
}

func (r *recent) put(k cacheKey, v []float32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e, ok := r.byKey[k]; ok {
		r.order.MoveToFront(e)
		return
	}
	r.byKey[k] = r.order.PushFront(recentEntry{k, v})
	if r.order.Len() > r.limit {
		delete(r.byKey, r.order.Remove(r.order.Back()).(recentEntry).key)
	}
}
