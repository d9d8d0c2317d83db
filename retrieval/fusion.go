package retrieval

import (
	"cmp"
	"slices"
)

// fused is a record with its fused score and its rank in every list that
// has it, from 1, by the list's place in the input.
type fused struct {
	Record int64
	Score  float64
	Ranks  []int // 0 if it is not in the list
}

// fusion is the memory of fusing lists, which the next lists can use again. It
// is not safe for concurrent use.
type fusion struct {
	at    map[int64]int // of a record, in out
	out   []fused
	ranks []int // of all candidates
}

// reciprocal fuses lists by weighted reciprocal rank: only ranks count, as scores of
// different lists cannot be compared, and of a record that is repeated the first place,
//
//	score(r) = Σ weight / (k + rank(r))
//
// (Cormack, Clarke, Büttcher: Reciprocal rank fusion outperforms Condorcet and
// individual rank learning methods, SIGIR 2009) and returns the best limit
// candidates, best first, equal scores by record. They are valid until the next
// call.
func (f *fusion) reciprocal(lists []foundList, k float64, limit int) []fused {
	most := 0
	for _, list := range lists {
		most += len(list.Hits)
	}
	if f.at == nil {
		f.at = make(map[int64]int, most)
	}
	clear(f.at)
	f.ranks = slices.Grow(f.ranks[:0], most*len(lists))[:most*len(lists)]
	clear(f.ranks)
	at, out, ranks := f.at, f.out[:0], f.ranks
	for l, list := range lists {
		rank := 0
		for _, h := range list.Hits {
			n, ok := at[h.Record]
			if !ok {
				n = len(out)
				at[h.Record] = n
				out = append(out, fused{Record: h.Record, Ranks: ranks[:len(lists):len(lists)]})
				ranks = ranks[len(lists):]
			}
			if out[n].Ranks[l] == 0 {
				rank++
				out[n].Ranks[l] = rank
				out[n].Score += list.Weight / (k + float64(rank))
			}
		}
	}
	f.out = out
	slices.SortFunc(out, func(a, b fused) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return cmp.Compare(a.Record, b.Record)
	})
	return out[:min(limit, len(out))]
}
