// Package tally counts what is searched for and chosen, and what the content security
// policy blocked. Counts are collected in memory by day and written to the catalog a few
// seconds later, with the number of clients that they are of; which clients stays in
// memory (crowd.go). A query that looks like a secret, an address or a number of a person
// is not counted, and nothing here logs a query.
package tally

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"almanac/catalog"
)

// Limits of a Tally.
const (
	interval   = 5 * time.Second // from the first count to its write
	maxPending = 2_000           // distinct queries, clicks, violations that wait to be written; others are dropped
	maxClients = 10_000          // clients told apart in a minute; all others are one

	// ordinary is how many searches of one client in a minute are all counted. Of
	// further ones every sample-th is: a flood from one address must not make a query
	// popular.
	ordinary = 120
	sample   = 10
)

// Store keeps the counts; a catalog does.
type Store interface {
	CountSearches(ctx context.Context, counts []catalog.SearchCount) error
	CountClicks(ctx context.Context, counts []catalog.ClickCount) error
	CountViolations(ctx context.Context, counts []catalog.Violation) error
}

// Tally counts. It is safe for concurrent use; a nil Tally counts nothing.
type Tally struct {
	store Store
	now   func() time.Time
	log   *slog.Logger

	writing sync.Mutex // held during a write

	mu       sync.Mutex // guards everything below
	searches map[searched]catalog.SearchCount
	shown    map[place]catalog.ClickCount
	blocked  map[violated]catalog.Violation
	timer    *time.Timer // of the next write; nil: nothing waits
	closed   bool
	minute   time.Time      // when clients was emptied
	clients  map[string]int // searches since then
	today    *today
}

type searched struct {
	day   time.Time
	query string
}

// place is a record's in the results of a query on a day.
type place struct {
	searched
	record   int64
	position int
}

func placeOf(c catalog.ClickCount) place {
	return place{searched{catalog.Day(c.LastAt), c.Query}, c.Record, c.Position}
}

type violated struct {
	day                time.Time
	directive, blocked string
}

func violationOf(v catalog.Violation) violated {
	return violated{catalog.Day(v.LastAt), v.Directive, v.Blocked}
}

// New makes a Tally over a store. now gives the day of a count.
func New(store Store, now func() time.Time, log *slog.Logger) *Tally {
	return &Tally{
		store: store, now: now, log: log, clients: map[string]int{},
		searches: map[searched]catalog.SearchCount{}, shown: map[place]catalog.ClickCount{},
		blocked: map[violated]catalog.Violation{}, today: newToday(time.Time{}),
	}
}

type clientKey struct{}

// WithClient returns a context whose searches are those of one client, which is
// told apart by the key for a minute, by a hash of it for the day, and never stored.
// Searches of a context without a client are all counted, as nobody's.
func WithClient(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, clientKey{}, key)
}

type pageKey struct{}

// OnPage returns a context whose searches were typed on a page.
func OnPage(ctx context.Context) context.Context {
	return context.WithValue(ctx, pageKey{}, true)
}

type uncountedKey struct{}

// Uncounted returns a context whose searches are not counted: those that a page
// makes while somebody types.
func Uncounted(ctx context.Context) context.Context {
	return context.WithValue(ctx, uncountedKey{}, true)
}

// Outcome is what became of a search.
type Outcome struct {
	Zero      bool // nothing was found
	Corrected bool // it was read as something else
	Degraded  bool // an engine took no part
	Took      time.Duration
}

// Search counts a search, unless its text must not be kept (Query).
func (t *Tally) Search(ctx context.Context, text string, o Outcome) {
	if t == nil || ctx.Value(uncountedKey{}) != nil {
		return
	}
	query, ok := Query(text)
	if !ok {
		return
	}
	c := catalog.SearchCount{Query: query, N: 1, Zero: one(o.Zero), Corrected: one(o.Corrected),
		Degraded: one(o.Degraded), Took: o.Took, Longest: o.Took, LastAt: t.now().UTC()}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.counts(ctx, c.LastAt) {
		return
	}
	client := t.client(ctx, c.LastAt)
	if !t.today.queries.admits(query, client) {
		return
	}
	c.Clients = t.today.searched.add(query, client)
	if ctx.Value(pageKey{}) != nil {
		c.Visitors = t.today.typed.add(query, client)
	}
	t.addSearch(c)
	t.arm()
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// Shown counts results of a query that somebody saw, best first, and the one of
// them that was opened: clicked is its position from 1, or 0.
func (t *Tally) Shown(ctx context.Context, text string, records []int64, clicked int) {
	if t == nil {
		return
	}
	query, ok := Query(text)
	if !ok {
		return
	}
	now := t.now().UTC()
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.counts(ctx, now) {
		return
	}
	client := t.client(ctx, now)
	for i, record := range records {
		c := catalog.ClickCount{Query: query, Record: record, Position: i + 1, Shown: 1, Clicked: one(i+1 == clicked),
			LastAt: now}
		if t.today.places.admits(placeOf(c), client) {
			t.addShown(c)
		}
	}
	t.arm()
}

// client returns the hash of a context's client for the day of now; 0: nobody.
func (t *Tally) client(ctx context.Context, now time.Time) uint64 {
	if day := catalog.Day(now); !t.today.day.Equal(day) {
		t.today = newToday(day)
	}
	key, _ := ctx.Value(clientKey{}).(string)
	return t.today.hash(key)
}

// counts reports whether what a context's client did is counted.
func (t *Tally) counts(ctx context.Context, now time.Time) bool {
	client, _ := ctx.Value(clientKey{}).(string)
	if client == "" {
		return true
	}
	if now.Sub(t.minute) >= time.Minute {
		clear(t.clients)
		t.minute = now
	}
	if _, known := t.clients[client]; !known && len(t.clients) >= maxClients {
		client = "others"
	}
	t.clients[client]++
	n := t.clients[client]
	return n <= ordinary || n%sample == 0
}

// Violation counts what a directive of the content security policy blocked.
func (t *Tally) Violation(ctx context.Context, directive, blocked string) {
	if t == nil {
		return
	}
	v := catalog.Violation{Directive: directive, Blocked: blocked, N: 1, LastAt: t.now().UTC()}
	t.mu.Lock()
	defer t.mu.Unlock()
	client, key := t.client(ctx, v.LastAt), violationOf(v)
	if t.today.addresses.admits(key, client) {
		v.Clients = t.today.reported.add(key, client)
	} else {
		v.Blocked = catalog.OtherAddress
	}
	t.addViolation(v)
	t.arm()
}

func (t *Tally) addSearch(c catalog.SearchCount) {
	key := searched{catalog.Day(c.LastAt), c.Query}
	sum, known := t.searches[key]
	if !known && len(t.searches) >= maxPending {
		return
	}
	c.N, c.Zero, c.Corrected = c.N+sum.N, c.Zero+sum.Zero, c.Corrected+sum.Corrected
	c.Degraded, c.Took, c.Longest = c.Degraded+sum.Degraded, c.Took+sum.Took, max(c.Longest, sum.Longest)
	c.Clients, c.Visitors = max(c.Clients, sum.Clients), max(c.Visitors, sum.Visitors)
	if sum.LastAt.After(c.LastAt) {
		c.LastAt = sum.LastAt
	}
	t.searches[key] = c
}

func (t *Tally) addShown(c catalog.ClickCount) {
	key := placeOf(c)
	sum, known := t.shown[key]
	if !known && len(t.shown) >= maxPending {
		return
	}
	c.Shown, c.Clicked = c.Shown+sum.Shown, c.Clicked+sum.Clicked
	t.shown[key] = c
}

func (t *Tally) addViolation(v catalog.Violation) {
	key := violationOf(v)
	sum, known := t.blocked[key]
	if !known && len(t.blocked) >= maxPending {
		return
	}
	v.N, v.Clients = v.N+sum.N, max(v.Clients, sum.Clients)
	if sum.LastAt.After(v.LastAt) {
		v.LastAt = sum.LastAt
	}
	t.blocked[key] = v
}

// arm sets the timer of the next write.
func (t *Tally) arm() {
	if t.timer != nil || t.closed {
		return
	}
	t.timer = time.AfterFunc(interval, func() {
		if err := t.Flush(context.Background()); err != nil {
			t.log.Warn("counts of searches could not be written, they are kept and tried again", "error", err)
		}
	})
}

// Flush writes the counts that wait. What could not be written waits for the next
// time.
func (t *Tally) Flush(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.writing.Lock()
	defer t.writing.Unlock()
	t.mu.Lock()
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
	searches, shown := slices.Collect(maps.Values(t.searches)), slices.Collect(maps.Values(t.shown))
	blocked := slices.Collect(maps.Values(t.blocked))
	clear(t.searches)
	clear(t.shown)
	clear(t.blocked)
	t.mu.Unlock()
	return errors.Join(
		write(t, searches, func() error { return t.store.CountSearches(ctx, searches) }, t.addSearch),
		write(t, shown, func() error { return t.store.CountClicks(ctx, shown) }, t.addShown),
		write(t, blocked, func() error { return t.store.CountViolations(ctx, blocked) }, t.addViolation),
	)
}

// write writes counts, or adds them back if that fails.
func write[C any](t *Tally, counts []C, store func() error, back func(C)) error {
	if len(counts) == 0 {
		return nil
	}
	err := store()
	if err != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, c := range counts {
			back(c)
		}
		t.arm()
	}
	return err
}

// Close writes the counts that wait. Nothing may be counted after it.
func (t *Tally) Close() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	return t.Flush(context.Background())
}
