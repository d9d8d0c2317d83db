package corpus

import (
	"cmp"
	"slices"

	"almanac/retrieval/analysis"
)

// counts are the numbers of documents and passages that hold a term, and of
// documents that hold it in title or path.
type counts struct{ documents, passages, titles int32 }

// layer holds what a series of changes adds to the counts of terms.
type layer struct {
	terms  []analysis.TermID // ascending
	counts []counts
}

// layers are the counts of a corpus: the sum of all layers, each at least twice
// as long as the next. So a batch adds a layer of its own terms, and a term is
// merged a logarithmic number of times (Bentley, Saxe: Decomposable searching
// problems, 1980). A published value never changes.
type layers []layer

func (l layers) of(t analysis.TermID) (sum counts) {
	for _, x := range l {
		if i := find(x.terms, t); i >= 0 {
			sum = sum.plus(x.counts[i])
		}
	}
	return sum
}

func (c counts) plus(d counts) counts {
	return counts{c.documents + d.documents, c.passages + d.passages, c.titles + d.titles}
}

// find returns the index of a term, −1 if it is not there. Ids are hashes, so
// that its place can be guessed closely.
func find(terms []analysis.TermID, t analysis.TermID) int {
	low, high := 0, len(terms)
	guess := int(uint64(t) * uint64(len(terms)) >> 32)
	for step := 8; guess-step > 0; step *= 4 { // the bounds around the guess, then between them
		if terms[guess-step] <= t {
			low = guess - step
			break
		}
	}
	for step := 8; guess+step < len(terms); step *= 4 {
		if terms[guess+step] > t {
			high = guess + step
			break
		}
	}
	if i, ok := slices.BinarySearch(terms[low:high], t); ok {
		return low + i
	}
	return -1
}

// plus returns the layers with another one.
func (l layers) plus(x layer) layers {
	if len(x.terms) == 0 {
		return l
	}
	next := append(slices.Clone(l), x)
	for n := len(next); n > 1 && len(next[n-2].terms) < 2*len(next[n-1].terms); n-- {
		next[n-2] = merge(next[n-2], next[n-1], n == 2)
		next = next[:n-1]
	}
	return next
}

// sum returns all layers as one.
func (l layers) sum() (x layer) {
	for i := range slices.Backward(l) {
		x = merge(l[i], x, i == 0)
	}
	return x
}

// merge adds two layers. In the lowest there is nothing to take away from:
// terms that no document holds any more are left out.
func merge(a, b layer, lowest bool) layer {
	out := layer{make([]analysis.TermID, 0, len(a.terms)+len(b.terms)), make([]counts, 0, len(a.terms)+len(b.terms))}
	for i, j := 0, 0; i < len(a.terms) || j < len(b.terms); {
		order := 0
		switch {
		case i == len(a.terms):
			order = 1
		case j == len(b.terms):
			order = -1
		default:
			order = cmp.Compare(a.terms[i], b.terms[j])
		}
		var t analysis.TermID
		var sum counts
		if order <= 0 {
			t, sum = a.terms[i], a.counts[i]
			i++
		}
		if order >= 0 {
			t, sum = b.terms[j], sum.plus(b.counts[j])
			j++
		}
		if !lowest || sum != (counts{}) {
			out.terms, out.counts = append(out.terms, t), append(out.counts, sum)
		}
	}
	return layer{slices.Clip(out.terms), slices.Clip(out.counts)}
}

// An occurrence of a term in a document: the term in the high half, then how many
// passages hold it, whether title or path do, and whether it is taken away.
const (
	occurrencePassages = 2 // shift
	occurrenceTitle    = 2
	occurrenceRemoved  = 1
)

func layerOf(add, remove []*Document) layer {
	n := 0
	for _, d := range add {
		n += d.terms
	}
	for _, d := range remove {
		n += d.terms
	}
	all := make([]uint64, 0, n)
	for _, d := range add {
		all = d.appendOccurrences(all, 0)
	}
	for _, d := range remove {
		all = d.appendOccurrences(all, occurrenceRemoved)
	}
	sortByTerm(all)
	var out layer
	for i, x := range all {
		t := analysis.TermID(x >> 32)
		if i == 0 || t != out.terms[len(out.terms)-1] {
			out.terms, out.counts = append(out.terms, t), append(out.counts, counts{})
		}
		one := counts{1, int32(uint32(x) >> occurrencePassages), int32(x & occurrenceTitle / occurrenceTitle)}
		if x&occurrenceRemoved != 0 {
			one = counts{-one.documents, -one.passages, -one.titles}
		}
		c := &out.counts[len(out.counts)-1]
		*c = c.plus(one)
	}
	return out
}

func (d *Document) appendOccurrences(all []uint64, removed uint64) []uint64 {
	for k := range d.terms {
		x := d.detail(k)
		o := uint64(d.term(k))<<32 | uint64(x.passages)<<occurrencePassages | removed
		if x.fields[analysis.Title] > 0 || x.fields[analysis.Path] > 0 {
			o |= occurrenceTitle
		}
		all = append(all, o)
	}
	return all
}

// sortByTerm sorts occurrences by their high halves: by 11 bits at a time, the
// lowest first (radix sort), as they are many and evenly spread.
func sortByTerm(all []uint64) {
	const digit = 11
	from, to := all, make([]uint64, len(all))
	for shift := 32; shift < 64; shift += digit {
		var starts [1 << digit]int
		for _, x := range from {
			starts[x>>shift&(1<<digit-1)]++
		}
		sum := 0
		for i, n := range starts {
			starts[i] = sum
			sum += n
		}
		for _, x := range from {
			d := x >> shift & (1<<digit - 1)
			to[starts[d]] = x
			starts[d]++
		}
		from, to = to, from
	}
	copy(all, from) // after three passes the result is in the other slice
}
