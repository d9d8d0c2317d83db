// Package topk keeps the best few of many.
package topk

import (
	"cmp"
	"slices"
)

// Top keeps the items of the greatest scores: a heap with the worst on top. It can
// be used again after Reset.
type Top[S cmp.Ordered, T any] struct {
	k       int
	compare func(a, b T) int
	items   []Item[S, T]
}

// Item is what is kept, with its score.
type Item[S cmp.Ordered, T any] struct {
	Score S
	Item  T
}

// Reset empties it for k items. Of two items with the same score, the one that compare
// orders first is better; compare returns 0 only for one and the same item.
func (t *Top[S, T]) Reset(k int, compare func(a, b T) int) {
	t.k, t.compare, t.items = k, compare, t.items[:0]
}

// Least returns the score that an item needs, if there are k.
func (t *Top[S, T]) Least() (least S, full bool) {
	if full = len(t.items) == t.k; full {
		least = t.items[0].Score
	}
	return least, full
}

// worse compares scores first: only equal ones cost a call of compare.
func (t *Top[S, T]) worse(a, b Item[S, T]) bool {
	return a.Score < b.Score || a.Score == b.Score && t.compare(a.Item, b.Item) > 0
}

// Wants reports whether an item is among the best so far.
func (t *Top[S, T]) Wants(score S, item T) bool {
	return len(t.items) < t.k || t.worse(t.items[0], Item[S, T]{score, item})
}

// Add adds an item that is wanted.
func (t *Top[S, T]) Add(score S, item T) {
	x := Item[S, T]{score, item}
	if len(t.items) == t.k {
		t.sink(x)
		return
	}
	i := len(t.items)
	t.items = append(t.items, x)
	for i > 0 {
		parent := (i - 1) / 2
		if !t.worse(x, t.items[parent]) {
			break
		}
		t.items[i] = t.items[parent]
		i = parent
	}
	t.items[i] = x
}

// sink replaces the worst item and restores the heap.
func (t *Top[S, T]) sink(x Item[S, T]) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(t.items) {
			break
		}
		if child+1 < len(t.items) && t.worse(t.items[child+1], t.items[child]) {
			child++
		}
		if !t.worse(t.items[child], x) {
			break
		}
		t.items[i] = t.items[child]
		i = child
	}
	t.items[i] = x
}

// Best returns the items kept, best first, until the next Reset.
func (t *Top[S, T]) Best() []Item[S, T] {
	slices.SortFunc(t.items, func(a, b Item[S, T]) int {
		if a.Score != b.Score {
			return cmp.Compare(b.Score, a.Score)
		}
		return t.compare(a.Item, b.Item)
	})
	return t.items
}
