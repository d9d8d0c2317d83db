package embedded

import (
	"cmp"
	"slices"
)

// The merge policy is that of log-structured merging in tiers (O'Neil et al.
// 1996; Lucene's TieredMergePolicy): a segment of up to tierFloor bytes is in
// tier 0, each further tier is tierFanout times as large, and when a tier holds
// tierFanout segments they and all smaller ones are merged into one. So a token
// is rewritten about log8(size/tierFloor) times, and an index of a gigabyte has
// fewer than 50 segments.
const (
	tierFanout = 8
	tierFloor  = 4 << 10
	// maxMerged bounds the length of a merged segment, and so the memory and the
	// time that a merge takes.
	maxMerged = 256 << 20
	// maxDead is the share of deleted records, as a divisor, from which a segment
	// is rewritten: one fourth.
	maxDead = 4
)

// tierOf returns the tier of a segment by the bytes of its sequences.
func tierOf(size int) int {
	tier := 0
	for limit := tierFloor; size > limit; limit *= tierFanout {
		tier++
	}
	return tier
}

// mergeable returns the indexes of the parts to merge into one, nil for none.
func mergeable(parts []*part) []int {
	var tiers [64][]int
	for i, p := range parts {
		if p.deadRecords > 0 && p.deadRecords*maxDead >= len(p.seg.ids) {
			return []int{i}
		}
		if size := p.liveBytes(); size < maxMerged/2 {
			tiers[tierOf(size)] = append(tiers[tierOf(size)], i)
		}
	}
	var smaller []int
	for _, tier := range tiers {
		smaller = append(smaller, tier...)
		if len(tier) >= tierFanout {
			slices.Sort(smaller)
			return smaller
		}
	}
	return nil
}

// mergeSource is a forward to merge with its live records; nil means all.
type mergeSource struct {
	f    *forward
	live bitset
}

// merge makes one forward of the live records of several, whose ids must be
// distinct. Terms that no live record has are dropped. It fails only on
// malformed sequences, which can come from a snapshot.
func merge(sources []mergeSource) (*forward, error) {
	order := liveRecords(sources)
	counts := make([][]uint32, len(sources))
	for i, s := range sources {
		counts[i] = make([]uint32, len(s.f.names))
	}
	var a, b sequence
	for _, at := range order {
		f := sources[at.source].f
		title, passages := f.titleSlot(at.record), int(f.first[at.record+1]-f.first[at.record])
		for slot := title; slot <= title+passages; slot++ {
			if !f.readSlot(slot, &a, &b) {
				return nil, errMalformed
			}
			for _, id := range a.ids {
				counts[at.source][id]++
			}
			for _, id := range b.ids {
				counts[at.source][id]++
			}
		}
	}
	out := &forward{}
	renamed := out.mergeVocabularies(sources, counts)
	attrs := newColumnBuilders()
	out.offsets = append(out.offsets, 0)
	for _, at := range order {
		out.copyRecord(sources[at.source].f, at.record, renamed[at.source], attrs)
	}
	out.first = append(out.first, uint32(len(out.ordinals)))
	out.attrs = attrs.columns()
	return out, nil
}

// location is the location of a record in a merge.
type location struct {
	id             int64
	source, record int
}

// liveRecords lists the live records of all sources by id.
func liveRecords(sources []mergeSource) []location {
	var order []location
	for i, s := range sources {
		for r, id := range s.f.ids {
			if s.live == nil || s.live.has(r) {
				order = append(order, location{id, i, r})
			}
		}
	}
	slices.SortFunc(order, func(a, b location) int { return cmp.Compare(a.id, b.id) })
	return order
}

// mergeVocabularies sets terms and names from the counted terms, and returns
// the new sequence id of each source's ids.
func (f *forward) mergeVocabularies(sources []mergeSource, counts [][]uint32) [][]uint32 {
	renamed := make([][]uint32, len(sources))
	byName := make([][]uint32, len(sources)) // index in terms → sequence id
	cursors := make([]vocabularyCursor, len(sources))
	for i, s := range sources {
		renamed[i] = make([]uint32, len(s.f.names))
		byName[i] = make([]uint32, len(s.f.names))
		for id, name := range s.f.names {
			byName[i][name] = uint32(id)
		}
		cursors[i] = vocabularyCursor{&s.f.terms, 0, uint32(s.f.terms.len())}
	}
	var terms []string
	var totals []uint32
	mergeTerms(cursors, func(term string, at []int) {
		total := uint32(0)
		for i, name := range at {
			if name >= 0 {
				id := byName[i][name]
				total += counts[i][id]
				renamed[i][id] = uint32(len(terms)) // index in terms for now
			}
		}
		if total > 0 {
			terms = append(terms, term)
			totals = append(totals, total)
		}
	})
	f.terms = newVocabulary(terms)
	f.names = make([]uint32, len(terms))
	for i := range f.names {
		f.names[i] = uint32(i)
	}
	slices.SortStableFunc(f.names, func(a, b uint32) int { return cmp.Compare(totals[b], totals[a]) })
	ids := make([]uint32, len(terms))
	for id, name := range f.names {
		ids[name] = uint32(id)
	}
	for i := range renamed {
		for id, name := range renamed[i] {
			if counts[i][id] > 0 {
				renamed[i][id] = ids[name]
			}
		}
	}
	return renamed
}

// copyRecord appends a record of another forward.
func (f *forward) copyRecord(from *forward, record int, renamed []uint32, attrs *columnBuilders) {
	f.ids = append(f.ids, from.ids[record])
	f.dates = append(f.dates, from.dates[record])
	f.first = append(f.first, uint32(len(f.ordinals)))
	lo, hi := from.first[record], from.first[record+1]
	f.ordinals = append(f.ordinals, from.ordinals[lo:hi]...)
	for i := range from.attrs {
		c := &from.attrs[i]
		attrs.append(i, c.values[c.of[record]])
	}
	var seqs [2]sequence
	title := from.titleSlot(record)
	for slot := title; slot <= title+int(hi-lo); slot++ {
		from.readSlot(slot, &seqs[0], &seqs[1])
		for i := range seqs {
			for j, id := range seqs[i].ids {
				seqs[i].ids[j] = renamed[id]
			}
			f.seqs = appendSequence(f.seqs, &seqs[i])
		}
		f.offsets = append(f.offsets, uint32(len(f.seqs)))
	}
}
