package embedded

import (
	"cmp"
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

// compareHits orders the better hit first: the greater score, then the
// smaller id.
func compareHits(a, b hit) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.record, b.record), cmp.Compare(a.passage, b.passage))
}

// top keeps the best k hits in a heap with the worst on top.
type top struct {
	k     int
	heap  []hit
	least int64 // score that a hit needs; 0 until there are k
}

func (t *top) reset(k int) { t.k, t.heap, t.least = k, t.heap[:0], 0 }

// wants reports whether the hit is among the best so far.
func (t *top) wants(h hit) bool {
	return len(t.heap) < t.k || compareHits(h, t.heap[0]) < 0
}

// add adds a hit that is wanted.
func (t *top) add(h hit) {
	if len(t.heap) < t.k {
		t.heap = append(t.heap, h)
		for i := len(t.heap) - 1; i > 0; {
			parent := (i - 1) / 2
			if compareHits(t.heap[i], t.heap[parent]) <= 0 {
				break
			}
			t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
			i = parent
		}
	} else {
		t.heap[0] = h
		t.sink()
	}
	if len(t.heap) == t.k {
		t.least = t.heap[0].score
	}
}

func (t *top) sink() {
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.heap); child++ {
			if compareHits(t.heap[child], t.heap[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}

// hits returns the best hits, best first.
func (t *top) hits() []keyword.Hit {
	slices.SortFunc(t.heap, compareHits)
	out := make([]keyword.Hit, len(t.heap))
	for i, h := range t.heap {
		out[i] = keyword.Hit{Record: h.record, Passage: h.passage, Score: float64(h.score) / scoreUnit}
	}
	return out
}
