// Package crowd counts in tests how many are somewhere at the same time.
package crowd

import "sync"

// Crowd is what can be entered and left. The zero value is empty.
type Crowd struct {
	mu        sync.Mutex
	now, most int
}

// Enter adds one.
func (c *Crowd) Enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now++
	c.most = max(c.most, c.now)
}

// Leave takes one away.
func (c *Crowd) Leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now--
}

// Most is the largest number so far.
func (c *Crowd) Most() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most
}
