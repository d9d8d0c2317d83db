// Package topk keeps the best few of many.
package topk

import "slices"

// Top keeps the best items that are added: a heap with the worst on top. It can
// be used again after Reset.
type Top[T any] struct {
	k       int
	compare func(a, b T) int
	items   []T
}

// Reset empties it for k items, at least one; compare is negative if a is better
// than b, and 0 only for equal ones.
func (t *Top[T]) Reset(k int, compare func(a, b T) int) {
	t.k, t.compare, t.items = k, compare, t.items[:0]
}

// Full reports whether there are k.
func (t *Top[T]) Full() bool { return len(t.items) == t.k }

// Worst returns the worst of those kept.
func (t *Top[T]) Worst() T { return t.items[0] }

// Wants reports whether an item is among the best so far.
func (t *Top[T]) Wants(item T) bool { return !t.Full() || t.compare(item, t.items[0]) < 0 }

// Add adds an item if it is wanted.
func (t *Top[T]) Add(item T) {
	switch {
	case !t.Full():
		t.items = append(t.items, item)
		t.rise(item)
	case t.compare(item, t.items[0]) < 0:
		t.sink(item)
	}
}

// rise places the item for which the last place was made.
func (t *Top[T]) rise(item T) {
	i := len(t.items) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if t.compare(item, t.items[parent]) < 0 {
			break
		}
		t.items[i] = t.items[parent]
		i = parent
	}
	t.items[i] = item
}

// sink places the item that takes the place of the worst.
func (t *Top[T]) sink(item T) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(t.items) {
			break
		}
		if child+1 < len(t.items) && t.compare(t.items[child], t.items[child+1]) < 0 {
			child++
		}
		if t.compare(t.items[child], item) <= 0 {
			break
		}
		t.items[i] = t.items[child]
		i = child
	}
	t.items[i] = item
}

// Best returns the items kept, best first, until the next Reset.
func (t *Top[T]) Best() []T {
	slices.SortFunc(t.items, t.compare)
	return t.items
}
