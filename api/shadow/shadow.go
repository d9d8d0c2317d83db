// Package shadow runs a candidate profile beside the searches of people and
// counts how much it would change. People are answered as ever: the candidate
// searches when a call has ended, one search at a time, and what comes meanwhile
// is left out.
package shadow

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"almanac/api/tally"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/retrieval/revision"
)

const (
	lookEvery  = time.Second      // between two looks at the setting
	writeEvery = 5                // looks between two writes
	freshEvery = 30               // looks until pins are looked up again: records may have changed
	patience   = 10 * time.Second // of one search
	maxPending = 1_000            // queries that wait to be written; others are left out
	depth      = 10               // results that are compared
)

// Searcher answers as another one does, and tries a candidate on a share of the
// searches.
type Searcher struct {
	retrieval.Searcher
	beside retrieval.Searcher
	source revision.Source
	log    *slog.Logger

	candidate atomic.Pointer[candidate] // nil: none
	place     chan struct{}             // of the one search
	said      string                    // the last error that was logged

	mu      sync.Mutex // guards pending
	pending map[counted]catalog.ShadowCount
}

// candidate is a profile that is tried.
type candidate struct {
	setting   revision.Shadow
	head      int64  // of the publications
	live      string // what was in force
	relevance retrieval.Relevance
}

type counted struct {
	day                    time.Time
	live, candidate, query string
}

// New returns a searcher that answers by one and tries candidates on another,
// which counts nothing and admits everything.
func New(answers, beside retrieval.Searcher, s revision.Source, log *slog.Logger) *Searcher {
	return &Searcher{Searcher: answers, beside: beside, source: s, log: log, place: make(chan struct{}, 1),
		pending: map[counted]catalog.ShadowCount{}}
}

// Run follows the setting and writes what was counted until ctx ends.
func (s *Searcher) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for n := 0; ctx.Err() == nil; n++ {
		err := s.look(ctx, n%freshEvery == 0)
		if err == nil && n%writeEvery == 0 {
			err = s.write(ctx)
		}
		s.say(ctx, err)
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	s.candidate.Store(nil)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	s.place <- struct{}{} // the last search has ended
	s.say(ctx, s.write(ctx))
}

// say logs an error once.
func (s *Searcher) say(ctx context.Context, err error) {
	switch {
	case err == nil:
		s.said = ""
	case ctx.Err() == nil && err.Error() != s.said:
		s.said = err.Error()
		s.log.Error("shadow searches failed", "error", err)
	}
}

// look reads the setting, and if it or what is in force has changed, or to be
// fresh, what the candidate would be.
func (s *Searcher) look(ctx context.Context, fresh bool) error {
	setting, err := revision.ShadowOf(ctx, s.source.Store)
	if err != nil {
		return err
	}
	name, ok := revision.ParseName(setting.Candidate)
	if !ok {
		s.candidate.Store(nil)
		return nil
	}
	live, head, err := revision.InForce(ctx, s.source.Store)
	if err != nil {
		return err
	}
	if now := s.candidate.Load(); !fresh && now != nil && now.setting == setting && now.head == head {
		return nil
	}
	s.candidate.Store(nil)
	c := &candidate{setting: setting, head: head, live: live.Profile()}
	r, err := s.source.Saved(ctx, name)
	if err == nil {
		c.relevance, err = s.source.Relevance(ctx, r)
	}
	if err == nil {
		s.candidate.Store(c)
	}
	return err
}

// Search implements retrieval.Searcher. The candidate searches when ctx has ended,
// as it does with the call: nobody waits for it.
func (s *Searcher) Search(ctx context.Context, r retrieval.Request) (retrieval.Response, error) {
	res, err := s.Searcher.Search(ctx, r)
	c := s.candidate.Load()
	if err != nil || c == nil || rand.IntN(100) >= c.setting.Share || len(res.Degraded) > 0 ||
		r.Offset > 0 || r.Profile != "" || r.Relevance != nil {
		return res, err
	}
	query, ok := tally.Query(r.Query)
	if !ok {
		return res, err
	}
	was := recordsOf(res.Results)
	context.AfterFunc(ctx, func() { s.try(c, r, query, was) })
	return res, err
}

// try searches with the candidate, unless that is busy.
func (s *Searcher) try(c *candidate, r retrieval.Request, query string, was []int64) {
	select {
	case s.place <- struct{}{}:
		defer func() { <-s.place }()
	default:
		return
	}
	if c != s.candidate.Load() {
		return // another setting, or the end
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r.Relevance, r.Explain, r.Whole, r.Joined, r.Facets = &c.relevance, false, 0, false, nil
	res, err := s.beside.Search(ctx, r)
	if err != nil || len(res.Degraded) > 0 {
		return
	}
	s.count(c, query, was, recordsOf(res.Results))
}

// count adds the two lists of a query.
func (s *Searcher) count(c *candidate, query string, was, would []int64) {
	now := time.Now()
	key := counted{catalog.Day(now), c.live, c.setting.Candidate, query}
	s.mu.Lock()
	defer s.mu.Unlock()
	x, known := s.pending[key]
	if !known && len(s.pending) >= maxPending {
		return
	}
	s.pending[key] = catalog.ShadowCount{Live: c.live, Candidate: c.setting.Candidate, Query: query, N: x.N + 1,
		Jaccard: x.Jaccard + eval.Jaccard(was, would, depth), RBO: x.RBO + eval.RBO(was, would, eval.Persistence),
		Was: was, Would: would, LastAt: now}
}

// write stores what was counted; what cannot be written waits.
func (s *Searcher) write(ctx context.Context) error {
	s.mu.Lock()
	pending := s.pending
	s.pending = map[counted]catalog.ShadowCount{}
	s.mu.Unlock()
	if len(pending) == 0 {
		return nil
	}
	var list []catalog.ShadowCount
	for _, x := range pending {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b catalog.ShadowCount) int {
		return cmp.Or(a.LastAt.Compare(b.LastAt), cmp.Compare(a.Query, b.Query))
	})
	err := s.source.Store.CountShadows(ctx, list)
	if err == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, x := range pending {
		now := s.pending[key]
		x.N, x.Jaccard, x.RBO = x.N+now.N, x.Jaccard+now.Jaccard, x.RBO+now.RBO
		s.pending[key] = x
	}
	return err
}

// recordsOf returns the records of the results that are compared.
func recordsOf(results []retrieval.Result) []int64 {
	out := make([]int64, min(depth, len(results)))
	for i := range out {
		out[i] = results[i].Record
	}
	return out
}
