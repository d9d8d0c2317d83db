package tally

import (
	"hash/maphash"
	"slices"
	"time"

	"almanac/catalog"
)

// share is the part of a day's bound that one client may use up: as many clients are
// needed to leave no room for others.
const share = 5

// today is what is known of the current day. Clients are told apart by hashes under
// a seed that no other day and no other process has, and nothing of it is written:
// after a restart the day's clients are counted anew, and the greater number stands.
type today struct {
	day       time.Time
	seed      maphash.Seed
	queries   ration[string]
	places    ration[place]
	addresses ration[violated]

	searched crowd[string] // who searched for a query
	typed    crowd[string] // who did so on a page
	reported crowd[violated]
}

func newToday(day time.Time) *today {
	return &today{
		day: day, seed: maphash.MakeSeed(), queries: newRation[string](catalog.DaySearches),
		places: newRation[place](catalog.DayClicks), addresses: newRation[violated](catalog.DayViolations),
		searched: crowd[string]{}, typed: crowd[string]{}, reported: crowd[violated]{},
	}
}

// hash names a client; 0: nobody.
func (d *today) hash(client string) uint64 {
	if client == "" {
		return 0
	}
	return max(1, maphash.String(d.seed, client))
}

// ration bounds the distinct things that are counted.
type ration[K comparable] struct {
	most    int
	known   map[K]bool
	brought map[uint64]int // by client
}

func newRation[K comparable](most int) ration[K] {
	return ration[K]{most, map[K]bool{}, map[uint64]int{}}
}

// admits reports whether a thing is counted: it is already, or there is room for what
// a client brings.
func (r ration[K]) admits(key K, client uint64) bool {
	if r.known[key] {
		return true
	}
	if len(r.known) >= r.most || client != 0 && r.brought[client] >= r.most/share {
		return false
	}
	r.known[key] = true
	r.brought[client]++
	return true
}

// crowd is the first catalog.PublicClients clients of each thing.
type crowd[K comparable] map[K][]uint64

// add counts a client and returns how many there are.
func (c crowd[K]) add(key K, client uint64) int {
	known := c[key]
	if client != 0 && len(known) < catalog.PublicClients && !slices.Contains(known, client) {
		c[key] = append(known, client)
	}
	return len(c[key])
}
