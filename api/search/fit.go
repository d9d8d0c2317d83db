package search

import (
	"almanac/api/kb"
	"almanac/catalog/derive"
	"cmp"
	"slices"
	"strings"
)

// orderBy puts those first that match what stands first in a ranking. Those
// that match nothing come last, in their order.
func orderBy[T, R any](items []T, ranking []R, match func(T, R) bool) {
	place := func(x T) int {
		at := slices.IndexFunc(ranking, func(r R) bool { return match(x, r) })
		if at < 0 {
			return len(ranking)
		}
		return at
	}
	slices.SortStableFunc(items, func(x, y T) int { return cmp.Compare(place(x), place(y)) })
}

// fit keeps of every list what a budget has room for: the first of every list,
// then the second of every list, and so on. What is too large is left out, what
// comes after it may still fit. It returns what is kept of each list, its size
// and the number of those left out.
func fit[T any](lists [][]T, budget int, size func(T) int) (kept [][]T, used, left int) {
	kept = make([][]T, len(lists))
	for rank, more := 0, true; more; rank++ {
		more = false
		for i, list := range lists {
			if rank >= len(list) {
				continue
			}
			more = true
			if n := size(list[rank]); used+n <= budget {
				used += n
				kept[i] = append(kept[i], list[rank])
			} else {
				left++
			}
		}
	}
	return kept, used, left
}

// bestBlock returns the block that has most words of a topic, of equal ones the
// first with a language, else the first. It is the zero block if there is none.
func bestBlock(blocks []derive.CodeBlock, topic string) derive.CodeBlock {
	words := kb.Words(topic)
	var best derive.CodeBlock
	most := -1
	for _, b := range blocks {
		n := 0
		text := strings.ToLower(b.Code)
		for w := range words {
			if strings.Contains(text, w) {
				n += 2
			}
		}
		if b.Language != "" {
			n++
		}
		if n > most {
			best, most = b, n
		}
	}
	return best
}
