package embedded

import "slices"

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
