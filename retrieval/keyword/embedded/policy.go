package embedded

import (
	"cmp"
	"slices"
)

// The merge policy is that of log-structured merging in tiers (O'Neil et al.
// 1996; Lucene's TieredMergePolicy): a segment of up to tierFloor bytes is in
// tier 0, each further tier is tierFanout times as large, and when a tier has
// tierFanout segments they are merged with all smaller ones. So a posting is
// rewritten about log8(size/tierFloor) times.
const (
	tierFanout = 8
	tierFloor  = 4 << 10
	// maxMerged bounds the bytes that are merged at once: what a merge needs in
	// memory and time, and what the next flush writes because of it.
	maxMerged = 48 << 20
	// maxDead is the share of deleted records, as a divisor, from which a segment
	// is rewritten: one fourth.
	maxDead = 4
)

// segmentSize is what the merge policy knows of a segment.
type segmentSize struct {
	bytes         int // of what is live
	records, dead int
}

// mergePolicy returns the indexes of the segments to merge into one, ascending;
// nil for none. The chosen have maxMerged bytes at most, unless it is one
// segment that loses its dead. A segment of more than half of that is left
// alone, so that two of the others always fit.
func mergePolicy(segments []segmentSize) []int {
	var tiers [64]int
	var small []int
	for i, s := range segments {
		if s.dead > 0 && s.dead*maxDead >= s.records {
			return []int{i}
		}
		if s.bytes <= maxMerged/2 {
			tiers[tierOf(s.bytes)]++
			small = append(small, i)
		}
	}
	full := slices.IndexFunc(tiers[:], func(n int) bool { return n >= tierFanout })
	if full < 0 {
		return nil
	}
	slices.SortStableFunc(small, func(a, b int) int { return cmp.Compare(segments[a].bytes, segments[b].bytes) })
	var chosen []int
	sum := 0
	for _, i := range small {
		if sum += segments[i].bytes; sum > maxMerged || tierOf(segments[i].bytes) > full {
			break
		}
		chosen = append(chosen, i)
	}
	slices.Sort(chosen)
	return chosen
}

// tierOf returns the tier of a segment of so many bytes.
func tierOf(bytes int) int {
	tier := 0
	for limit := tierFloor; bytes > limit; limit *= tierFanout {
		tier++
	}
	return tier
}

// size is what the merge policy knows of the reader's segment.
func (r *segmentReader) size() segmentSize {
	n := len(r.seg.ids)
	return segmentSize{bytes: r.seg.size() * (n - r.deadRecords) / max(n, 1), records: n, dead: r.deadRecords}
}
