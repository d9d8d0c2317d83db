package embedded

import (
	"slices"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// hit is a scored document; score in scoreUnits.
type hit struct {
	score   int64
	record  int64
	passage passage.ID
}

// worse orders hits: by score and, if that is equal, the greater id is worse.
func (h *hit) worse(than *hit) bool {
	if h.score != than.score {
		return h.score < than.score
	}
	if h.record != than.record {
		return h.record > than.record
	}
	return h.passage > than.passage
}

// top keeps the best k hits in a heap with the worst on top.
type top struct {
	k     int
	heap  []hit
	least int64 // score that a hit needs; 0 until there are k
}

func (t *top) reset(k int) { t.k, t.heap, t.least = k, t.heap[:0], 0 }

// wants reports whether the hit is among the best so far.
func (t *top) wants(h *hit) bool { return len(t.heap) < t.k || t.heap[0].worse(h) }

// add adds a hit that is wanted.
func (t *top) add(h hit) {
	if len(t.heap) < t.k {
		t.heap = append(t.heap, h)
		t.rise(h)
	} else {
		t.sink(h)
	}
	if len(t.heap) == t.k {
		t.least = t.heap[0].score
	}
}

// rise places the hit for which the last place was made.
func (t *top) rise(h hit) {
	i := len(t.heap) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !h.worse(&t.heap[parent]) {
			break
		}
		t.heap[i] = t.heap[parent]
		i = parent
	}
	t.heap[i] = h
}

// sink places the hit that takes the place of the worst.
func (t *top) sink(h hit) {
	i := 0
	for {
		child := 2*i + 1
		if child >= len(t.heap) {
			break
		}
		if child+1 < len(t.heap) && t.heap[child+1].worse(&t.heap[child]) {
			child++
		}
		if !t.heap[child].worse(&h) {
			break
		}
		t.heap[i] = t.heap[child]
		i = child
	}
	t.heap[i] = h
}

// hits returns the best hits, best first.
func (t *top) hits() []keyword.Hit {
	slices.SortFunc(t.heap, func(a, b hit) int {
		switch {
		case a.worse(&b):
			return 1
		case b.worse(&a):
			return -1
		}
		return 0
	})
	out := make([]keyword.Hit, len(t.heap))
	for i, h := range t.heap {
		out[i] = keyword.Hit{Record: h.record, Passage: h.passage, Score: float64(h.score) / scoreUnit}
	}
	return out
}
