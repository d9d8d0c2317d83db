package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/topk"
)

// window is the number of documents that are scored together.
const window = 2048

// Search implements keyword.Engine.
//
// A hit's score is its BM25F (see Scoring) to within 2^-32 for each term. A
// query without a term that can score finds nothing, unless it has phrases:
// then every match has score 0. The terms of a phrase must occur in the
// document; whether they stand together is left to Query.Accept.
func (e *Engine) Search(ctx context.Context, q keyword.Query, f passage.Filter, k int) ([]keyword.Hit, error) {
	s, err := e.current(ctx, &q)
	if err != nil || k <= 0 {
		return nil, err
	}
	p := newPlan(s, &e.scoring[q.Unit], &q, &f)
	if len(p.terms) == 0 && len(p.phrases) == 0 {
		return nil, nil
	}
	sc := scratches.Get().(*scratch)
	defer scratches.Put(sc)
	if k = min(k, s.units[q.Unit].docs); k == 0 {
		return nil, nil
	}
	sc.top.Reset(k, compareHits)
	sc.least = 0
	for at, r := range s.readers {
		if err := sc.searchSegment(ctx, p, at, r); err != nil {
			return nil, fmt.Errorf("keyword: search: %w", err)
		}
	}
	return sc.hits(), nil
}

// current returns what to search.
func (e *Engine) current(ctx context.Context, q *keyword.Query) (*searcher, error) {
	if q.Unit != keyword.Passages && q.Unit != keyword.Documents {
		return nil, fmt.Errorf("keyword: unknown unit %d", q.Unit)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("keyword: search: %w", err)
	}
	s := e.searcher.Load()
	if s == nil {
		return nil, errClosed
	}
	return s, nil
}

var errClosed = errors.New("keyword: engine is closed")

// scratch is the memory of one search.
type scratch struct {
	top     topk.Top[int64, hit]
	least   int64 // score that a hit needs, in scoreUnits; 0 until there are k
	pool    cursorPool
	cursors []*cursor
	sums    [window]int64
	touched [window / 64]uint64
	rest    []int64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// cursorPool keeps cursors, which are large, between searches.
type cursorPool struct {
	all  []*cursor
	used int
}

func (p *cursorPool) get() *cursor {
	if p.used == len(p.all) {
		p.all = append(p.all, new(cursor))
	}
	p.used++
	return p.all[p.used-1]
}

// scanCost is how many postings can be scored in the time that it takes to
// seek one.
const scanCost = 8

func (sc *scratch) searchSegment(ctx context.Context, p *plan, at int, r *segmentReader) error {
	sp := p.on(at, r)
	if sp == nil {
		return nil
	}
	sc.pool.used = 0
	sc.cursors = sp.cursors(sc.cursors[:0], &sc.pool)
	switch {
	case len(sp.phrases) > 0:
		return sc.searchAllowed(ctx, sp, true)
	case len(sc.cursors) == 1:
		return sc.searchTerm(ctx, sp)
	}
	if sp.allowed != nil {
		postings := 0
		for _, c := range sc.cursors {
			postings += c.left
		}
		if sp.allowed.Count()*len(sc.cursors)*scanCost < postings {
			return sc.searchAllowed(ctx, sp, false)
		}
	}
	return sc.searchWindows(ctx, sp)
}

// searchTerm is searchWindows for one term: its blocks one after the other,
// but those that have nothing for the best.
func (sc *scratch) searchTerm(ctx context.Context, sp *segmentPlan) error {
	c := sc.cursors[0]
	lengths, freqs := c.p.lengths, c.p.freqs
	for ; c.block < c.end; c.nextBlock() {
		if c.block%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if c.blockBound(c.block) < sc.least {
			continue
		}
		c.load()
		c.loadCodes()
		for i, doc := range c.docs[:c.n] {
			score := c.weigh(freqs[c.codes[i]], lengths[doc])
			if score >= sc.least && (sp.allowed == nil || sp.allowed.Has(int(doc))) {
				sc.offer(sp, int(doc), score)
			}
		}
	}
	return nil
}

// searchAllowed scores the allowed documents one by one. With required, they
// match whatever their score is, having all terms of the phrases.
func (sc *scratch) searchAllowed(ctx context.Context, sp *segmentPlan, required bool) error {
	docs := uint32(sp.postings.docs())
	for _, c := range sc.cursors {
		c.bound = c.boundIn(0, docs)
	}
	sc.sortCursors()
	n := 0
	for doc := range sp.allowed.All {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		sum, found := int64(0), required
		for i := len(sc.cursors) - 1; i >= 0 && sum+sc.rest[i+1] >= sc.least; i-- {
			if c := sc.cursors[i]; c.seek(uint32(doc)) {
				sum += c.score()
				found = true
			}
		}
		if found && sum >= sc.least {
			sc.offer(sp, doc, sum)
		}
	}
	return nil
}

// sortCursors orders the cursors by bound and sums the bounds: rest[i] is the
// greatest score that the first i can give together.
func (sc *scratch) sortCursors() {
	slices.SortFunc(sc.cursors, func(a, b *cursor) int { return cmp.Compare(a.bound, b.bound) })
	sc.rest = append(sc.rest[:0], 0)
	for i, c := range sc.cursors {
		sc.rest = append(sc.rest, sc.rest[i]+c.bound)
	}
}

// searchWindows is MaxScore (Turtle and Flood, "Query evaluation: strategies
// and optimizations", 1995) with block-max bounds (Ding and Suel, 2011) over
// windows of documents: in each window the terms that together cannot reach the
// worst of the best k are non-essential; the lists of the others are added up
// term by term, and the non-essential ones are looked up only for documents
// that could still get in.
func (sc *scratch) searchWindows(ctx context.Context, sp *segmentPlan) error {
	docs := uint32(sp.postings.docs())
	for lo := uint32(0); lo < docs; lo += window {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+window, docs)
		for _, c := range sc.cursors {
			c.bound = c.boundIn(lo, hi)
		}
		sc.sortCursors()
		essential := 0
		for essential < len(sc.cursors) && (sc.cursors[essential].bound == 0 || sc.rest[essential+1] < sc.least) {
			essential++
		}
		if essential == len(sc.cursors) {
			continue
		}
		for _, c := range sc.cursors[essential:] {
			sc.accumulate(c, lo, hi)
		}
		sc.drain(sp, lo, essential)
	}
	return nil
}

// accumulate adds the scores of a list in the window.
func (sc *scratch) accumulate(c *cursor, lo, hi uint32) {
	lengths, freqs := c.p.lengths, c.p.freqs
	for c.seekBlock(lo) && c.before+1 < int(hi) {
		c.load()
		c.loadCodes()
		i, n := c.i, c.n
		for i < n && c.docs[i] < lo {
			i++
		}
		for ; i < n; i++ {
			doc := c.docs[i]
			if doc >= hi {
				c.i = i
				return
			}
			sc.sums[doc-lo] += c.weigh(freqs[c.codes[i]], lengths[doc])
			sc.touched[(doc-lo)/64] |= 1 << ((doc - lo) & 63)
		}
		c.nextBlock()
	}
}

// drain offers the documents of the window and clears it.
func (sc *scratch) drain(sp *segmentPlan, lo uint32, essential int) {
	for w, word := range sc.touched {
		if word == 0 {
			continue
		}
		sc.touched[w] = 0
		for ; word != 0; word &= word - 1 {
			at := w*64 + bits.TrailingZeros64(word)
			sum := sc.sums[at]
			sc.sums[at] = 0
			if sum+sc.rest[essential] < sc.least {
				continue
			}
			doc := lo + uint32(at)
			if sp.allowed != nil && !sp.allowed.Has(int(doc)) {
				continue
			}
			for i := essential - 1; i >= 0 && sum+sc.rest[i+1] >= sc.least; i-- {
				if c := sc.cursors[i]; c.bound > 0 && c.seek(doc) {
					sum += c.score()
				}
			}
			if sum >= sc.least {
				sc.offer(sp, int(doc), sum)
			}
		}
	}
}

// offer adds a document to the best if it is one of them.
func (sc *scratch) offer(sp *segmentPlan, doc int, score int64) {
	record, id := sp.id(doc)
	h := hit{record, id}
	if sc.top.Wants(score, h) && (sp.accept == nil || sp.accept(record)) {
		sc.top.Add(score, h)
		sc.least, _ = sc.top.Least()
	}
}

// hit is a document that was found.
type hit struct {
	record  int64
	passage passage.ID
}

func compareHits(a, b hit) int {
	return cmp.Or(cmp.Compare(a.record, b.record), cmp.Compare(a.passage, b.passage))
}

// hits returns the best hits, best first.
func (sc *scratch) hits() []keyword.Hit {
	best := sc.top.Best()
	out := make([]keyword.Hit, len(best))
	for i, h := range best {
		out[i] = keyword.Hit{Record: h.Item.record, Passage: h.Item.passage, Score: float64(h.Score) / scoreUnit}
	}
	return out
}
