package embedded

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"almanac/retrieval/bitset"
	"almanac/retrieval/passage"
	"almanac/retrieval/topk"
	"almanac/retrieval/vector"
	"almanac/retrieval/vector/kernel"
)

// exactRows is the number of vectors up to which all are ranked by their rows, without
// codes. So are sets of up to twice the rows that codes would leave to rank, because
// reading rows in sequence takes half the time of reading them here and there.
const exactRows = 3000

// depth returns how many of the best by code are ranked by their rows to find
// the best k. Measured on 39,346 passages of four collections and 240 queries,
// the codes hold 0.9996 of the true best 10 at 1,000, 0.995 of the best 200 at
// 2,800, 0.999 of the best 1,000 at 10,800. Twice as many for k of 200 change
// nDCG@10 of no judged collection.
func depth(k int) int { return max(1000, 800+10*k) }

// scratch is the memory of one search.
type scratch struct {
	planes     []uint64
	mask       bitset.Set
	candidates candidates
	best       topk.Top[float32, uint32]
	estimates  [64]int32 // of rows that share a word of the mask
	rows, at   []uint32  // in the view, in a block
	wanted     []uint64  // rows with their places in an answer
	products   []int32
}

// release drops the view, which the pool must not keep alive.
func (s *scratch) release() {
	s.candidates.view = nil
	s.best.Reset(0, nil)
}

// Search returns the k passages of the greatest cosine. Beyond a few thousand
// vectors it may, rarely, miss a passage (see depth).
func (x *Index) Search(ctx context.Context, query []float32, f passage.Filter, k int) ([]vector.Hit, error) {
	v, q, err := x.prepare(query)
	if err != nil {
		return nil, fmt.Errorf("vector index: search: %w", err)
	}
	if isZero(q) || k <= 0 || v.found == 0 {
		return nil, ctx.Err()
	}
	s := x.scratch.Get().(*scratch)
	defer func() {
		s.release()
		x.scratch.Put(s)
	}()
	mask, n := v.visible, v.found
	if !f.Empty() {
		s.mask = v.mask(f, s.mask)
		mask, n = s.mask, s.mask.Count()
	}
	k = min(k, n)
	s.best.Reset(k, v.compare)
	if n <= max(exactRows, 2*depth(k)) {
		err = v.scanRows(ctx, q, mask, s)
	} else if err = v.scanCodes(ctx, q, mask, depth(k), s); err == nil {
		v.rank(q, s)
	}
	if err != nil {
		return nil, err
	}
	return v.hits(s), nil
}

// Scores returns the cosines of passages by looking each up.
func (x *Index) Scores(ctx context.Context, query []float32, ids []passage.ID) ([]float32, error) {
	v, q, err := x.prepare(query)
	if err != nil {
		return nil, fmt.Errorf("vector index: scores: %w", err)
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	scores, wanted := make([]float32, len(ids)), s.wanted[:0]
	var e entry
	for i, id := range ids {
		ok := e.n > 0 && e.id == id.Record() // passages of a record come together
		if !ok {
			e, ok = v.entry(id.Record())
		}
		if ok && id.Ordinal() < int(e.n) {
			wanted = append(wanted, uint64(int(e.first)+id.Ordinal())<<32|uint64(i))
		}
	}
	slices.Sort(wanted) // neighbours in memory are read one after the other
	s.wanted, s.rows = wanted, s.rows[:0]
	for _, w := range wanted {
		s.rows = append(s.rows, uint32(w>>32))
	}
	v.products(q, s, func(i int, product int32) { scores[uint32(wanted[i])] = cosine(product) })
	return scores, ctx.Err()
}

// prepare returns the current view and the row of a query.
func (x *Index) prepare(query []float32) (*view, []int16, error) {
	v := x.view.Load()
	if v == nil {
		return nil, nil, ErrClosed
	}
	q, err := vector.Unit(query, x.config.Dimensions)
	if err != nil {
		return nil, nil, err
	}
	return v, rowOf(q), nil
}

// mask returns the visible rows of the entries that match a filter.
func (v *view) mask(f passage.Filter, mask bitset.Set) bitset.Set {
	mask = slices.Grow(mask[:0], len(v.visible))[:len(v.visible)]
	clear(mask)
	m := f.Compile(v.attributes)
	add := func(e entry) {
		if m.Match(e.attributes, e.date) {
			mask.SetRange(int(e.first), int(e.first+e.n))
		}
	}
	if len(f.Records) > 0 {
		for _, id := range f.Records {
			if e, ok := v.entry(id); ok {
				add(e)
			}
		}
	} else {
		for _, e := range v.entries {
			add(e)
		}
	}
	mask.And(v.visible)
	return mask
}

// atOnce is how many rows, about, are ranked with one call.
const atOnce = 256

// scanRows puts the best rows of the mask in s.best.
func (v *view) scanRows(ctx context.Context, q []int16, mask bitset.Set, s *scratch) error {
	s.rows = s.rows[:0]
	for i, word := range mask {
		if i%(blockRows/64) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for ; word != 0; word &= word - 1 {
			s.rows = append(s.rows, uint32(i*64+bits.TrailingZeros64(word)))
		}
		if len(s.rows) >= atOnce {
			v.pushAll(q, s)
			s.rows = s.rows[:0]
		}
	}
	v.pushAll(q, s)
	return nil
}

// One row in so many is sampled: the estimates of the sample tell which estimate the
// other rows need to be among the best.
const sampled = 16

// scanCodes puts the n best rows of the mask, by code, in s.candidates.
func (v *view) scanCodes(ctx context.Context, q []int16, mask bitset.Set, n int, s *scratch) error {
	s.planes = v.coder.planes(q, s.planes)
	c := &s.candidates
	c.reset(v, n*3/2/sampled)
	if err := v.collect(ctx, mask, sampled, s); err != nil {
		return err
	}
	c.prune()
	least := c.least
	c.reset(v, n)
	c.least = least
	err := v.collect(ctx, mask, 1, s)
	if err == nil && len(c.items) < n { // the sample had more good ones than its share
		c.reset(v, n)
		err = v.collect(ctx, mask, 1, s)
	}
	c.prune()
	return err
}

// collect adds the rows of every so many words of the mask to s.candidates.
func (v *view) collect(ctx context.Context, mask bitset.Set, every int, s *scratch) error {
	for i := 0; i < len(mask); i += every {
		if i%(blockRows/64) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		word := mask[i]
		if word == 0 {
			continue
		}
		b, at := v.block(i * 64)
		codes := b.codes[at*v.coder.words() : v.coder.codesOf(min(at+64, len(b.ids)))]
		estimates := s.estimates[:len(codes)/v.coder.words()]
		best := word & kernel.Codes(estimates, codes, s.planes, s.candidates.least)
		for ; best != 0; best &= best - 1 {
			j := bits.TrailingZeros64(best)
			s.candidates.add(estimates[j], uint32(i*64+j))
		}
	}
	return nil
}

// rank puts the best candidates in s.best.
func (v *view) rank(q []int16, s *scratch) {
	for chunk := range slices.Chunk(s.candidates.items, atOnce) {
		s.rows = s.rows[:0]
		for _, c := range chunk {
			s.rows = append(s.rows, c.row)
		}
		v.pushAll(q, s)
	}
}

// pushAll pushes s.rows.
func (v *view) pushAll(q []int16, s *scratch) {
	v.products(q, s, func(i int, product int32) {
		if score := cosine(product); s.best.Wants(score, s.rows[i]) {
			s.best.Add(score, s.rows[i])
		}
	})
}

// compare orders rows by their ids.
func (v *view) compare(a, b uint32) int { return cmp.Compare(v.id(int(a)), v.id(int(b))) }

// hits returns the best rows as what a search has found.
func (v *view) hits(s *scratch) []vector.Hit {
	best := s.best.Best()
	hits := make([]vector.Hit, len(best))
	for i, x := range best {
		hits[i] = vector.Hit{Passage: v.id(int(x.Item)), Score: x.Score}
	}
	return hits
}

// products yields the product of the query with each of s.rows, those of a block at a time.
func (v *view) products(q []int16, s *scratch, yield func(i int, product int32)) {
	for rows, before := s.rows, 0; len(rows) > 0; {
		at := rows[0] / blockRows
		s.at = s.at[:0]
		for _, row := range rows {
			if row/blockRows != at {
				break
			}
			s.at = append(s.at, row%blockRows)
		}
		s.products = slices.Grow(s.products[:0], len(s.at))[:len(s.at)]
		kernel.Products(s.products, q, v.blocks[at].rows, s.at)
		for i, p := range s.products {
			yield(before+i, p)
		}
		rows, before = rows[len(s.at):], before+len(s.at)
	}
}

// candidates collects the rows of the greatest estimates. It accepts up to four
// times as many as wanted before it drops the worse ones, and from then on
// refuses rows worse than the last one kept.
type candidates struct {
	view      *view
	wanted    int
	least     int32 // rows of less are not wanted any more
	items     []candidate
	histogram []int32
}

type candidate struct {
	estimate int32
	row      uint32
}

func (c *candidates) reset(v *view, wanted int) {
	c.view, c.wanted, c.least, c.items = v, wanted, -1<<31, c.items[:0]
}

func (c *candidates) add(estimate int32, row uint32) {
	c.items = append(c.items, candidate{estimate, row})
	if len(c.items) >= 4*c.wanted {
		c.prune()
	}
}

// prune keeps the wanted best; among equal estimates those of the least ids,
// so that of equal vectors the first are found.
func (c *candidates) prune() {
	if len(c.items) <= c.wanted {
		return
	}
	c.least = c.threshold()
	kept, tied := c.items[:0], []candidate(nil)
	for _, item := range c.items {
		switch {
		case item.estimate > c.least:
			kept = append(kept, item)
		case item.estimate == c.least:
			tied = append(tied, item)
		}
	}
	slices.SortFunc(tied, func(a, b candidate) int { return c.view.compare(a.row, b.row) })
	c.items = append(kept, tied[:c.wanted-len(kept)]...)
}

// threshold is the estimate of the last one wanted, by counting.
func (c *candidates) threshold() int32 {
	low, high := c.items[0].estimate, c.items[0].estimate
	for _, item := range c.items {
		low, high = min(low, item.estimate), max(high, item.estimate)
	}
	n := int(high-low) + 1
	c.histogram = slices.Grow(c.histogram[:0], n)[:n]
	clear(c.histogram)
	for _, item := range c.items {
		c.histogram[item.estimate-low]++
	}
	for left := c.wanted; ; high-- {
		if left -= int(c.histogram[high-low]); left <= 0 {
			return high
		}
	}
}
