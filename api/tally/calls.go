package tally

import (
	"maps"
	"sync"
	"time"
)

// Calls counts the answered calls of operations by the hour: which, and nothing of who
// called. They are in memory alone, those of the last KeptHours. It is safe for concurrent
// use; a nil Calls counts nothing.
type Calls struct {
	now   func() time.Time
	since time.Time

	mu    sync.Mutex
	hours map[time.Time]map[string]int // by its beginning, by operation
}

// KeptHours is how many hours are kept, the current one included: a week.
const KeptHours = 7 * 24

// Hour are the calls of one by operation.
type Hour struct {
	At    time.Time // its beginning
	Calls map[string]int
}

// NewCalls begins to count.
func NewCalls(now func() time.Time) *Calls {
	return &Calls{now: now, since: now().UTC(), hours: map[time.Time]map[string]int{}}
}

// Since is when it began to count.
func (c *Calls) Since() time.Time { return c.since }

// Count counts a call of an operation.
func (c *Calls) Count(operation string) {
	if c == nil {
		return
	}
	hour := c.now().UTC().Truncate(time.Hour)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hours[hour] == nil {
		maps.DeleteFunc(c.hours, func(at time.Time, _ map[string]int) bool {
			return hour.Sub(at) >= KeptHours*time.Hour
		})
		c.hours[hour] = map[string]int{}
	}
	c.hours[hour][operation]++
}

// Hours are the last KeptHours, the oldest first and the current one last.
func (c *Calls) Hours() (all []Hour) {
	hour := c.now().UTC().Truncate(time.Hour)
	c.mu.Lock()
	defer c.mu.Unlock()
	for ago := range KeptHours {
		at := hour.Add(time.Duration(ago+1-KeptHours) * time.Hour)
		all = append(all, Hour{at, maps.Clone(c.hours[at])})
	}
	return all
}
