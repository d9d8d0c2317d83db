// Package recent keeps in memory what was read last of a source that changes.
package recent

import (
	"sync"

	"github.com/golang/groupcache/lru"
)

// Cache keeps the values of the keys that were used last, all from one state of their source. A state is a number
// that is another one after every change, such as the newest sequence number of a log.
type Cache[K comparable, V any] struct {
	mu     sync.Mutex // guards both
	state  int64
	values *lru.Cache // of V by K
}

// New returns a cache of limit values, at least 1.
func New[K comparable, V any](limit int) *Cache[K, V] {
	return &Cache[K, V]{values: lru.New(max(limit, 1))}
}

// Get returns the values of keys by key, and has read get those that are not kept. state is read before: what is
// read may be newer, and is then kept until the next change only. What read does not return is missing and not kept.
// Callers share the values and must not modify them.
func (c *Cache[K, V]) Get(state int64, keys []K, read func(missing []K) (map[K]V, error)) (map[K]V, error) {
	out := make(map[K]V, len(keys))
	missing := c.kept(state, keys, out)
	if len(missing) == 0 {
		return out, nil
	}
	found, err := read(missing)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, v := range found {
		out[k] = v
		if c.state == state { // else it can be older than what is kept now
			c.values.Add(k, v)
		}
	}
	return out, nil
}

// kept puts what is kept into out and returns the other keys.
func (c *Cache[K, V]) kept(state int64, keys []K, out map[K]V) (missing []K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != state {
		c.state = state
		c.values.Clear()
	}
	for _, k := range keys {
		if v, ok := c.values.Get(k); ok {
			out[k] = v.(V)
		} else {
			missing = append(missing, k)
		}
	}
	return missing
}
