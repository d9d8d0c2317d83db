package embedded

import (
	"cmp"
	"slices"

	"almanac/retrieval/vector"
)

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
	slices.SortFunc(tied, func(a, b candidate) int {
		return cmp.Compare(c.view.id(int(a.row)), c.view.id(int(b.row)))
	})
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

// top keeps the n rows of the greatest scores, equal ones by id: a heap with the worst on top.
type top struct {
	view  *view
	n     int
	items []scored
}

type scored struct {
	score float32
	row   uint32
}

func (t *top) reset(v *view, n int) { t.view, t.n, t.items = v, n, t.items[:0] }

// worse orders by score, then by id.
func (t *top) worse(a, b scored) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return t.view.id(int(a.row)) > t.view.id(int(b.row))
}

func (t *top) push(score float32, row uint32) {
	item := scored{score, row}
	if len(t.items) < t.n {
		t.items = append(t.items, item)
		for i := len(t.items) - 1; i > 0; {
			parent := (i - 1) / 2
			if !t.worse(t.items[i], t.items[parent]) {
				break
			}
			t.items[i], t.items[parent] = t.items[parent], t.items[i]
			i = parent
		}
		return
	}
	if t.worse(t.items[0], item) {
		t.items[0] = item
		t.sink()
	}
}

// sink moves the top to its place.
func (t *top) sink() {
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(t.items) {
			return
		}
		if child+1 < len(t.items) && t.worse(t.items[child+1], t.items[child]) {
			child++
		}
		if !t.worse(t.items[child], t.items[i]) {
			return
		}
		t.items[i], t.items[child] = t.items[child], t.items[i]
		i = child
	}
}

// hits returns the rows kept, best first.
func (t *top) hits() []vector.Hit {
	slices.SortFunc(t.items, func(a, b scored) int {
		if t.worse(b, a) {
			return -1
		}
		return 1
	})
	hits := make([]vector.Hit, len(t.items))
	for i, item := range t.items {
		hits[i] = vector.Hit{Passage: t.view.id(int(item.row)), Score: item.score}
	}
	return hits
}
