package embedded

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMergePolicy(t *testing.T) {
	const kb, mb = 1 << 10, 1 << 20
	sized := func(sizes ...int) (list []segmentSize) {
		for _, n := range sizes {
			list = append(list, segmentSize{bytes: n, records: 100})
		}
		return list
	}
	for _, c := range []struct {
		name     string
		segments []segmentSize
		want     []int
	}{
		{"none", nil, nil},
		{"one", sized(kb), nil},
		{"seven small ones", sized(slices.Repeat([]int{kb}, 7)...), nil},
		{"eight small ones", sized(slices.Repeat([]int{kb}, 8)...), []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{"eight small ones after a large one", sized(append([]int{9 * mb}, slices.Repeat([]int{kb}, 8)...)...),
			[]int{1, 2, 3, 4, 5, 6, 7, 8}},
		{"eight of a middle tier with the smaller ones",
			sized(100*kb, 100*kb, kb, 100*kb, 100*kb, 100*kb, 100*kb, 100*kb,
				20*kb, 100*kb), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{"a smaller tier that is full goes first", sized(append(slices.Repeat([]int{3 * mb}, 8),
			slices.Repeat([]int{kb}, 8)...)...), []int{8, 9, 10, 11, 12, 13, 14, 15}},
		{"large ones stay", sized(slices.Repeat([]int{maxMerged/2 + 1}, 20)...), nil},
		{"as many as fit, the smallest first", sized(20*mb, 21*mb, 19*mb, 20*mb, 20*mb, 20*mb, 20*mb, 20*mb),
			[]int{0, 2}},
		{"a quarter is deleted", append(sized(kb), segmentSize{bytes: 40 * mb, records: 100, dead: 25}), []int{1}},
		{"less than a quarter is deleted", append(sized(kb), segmentSize{bytes: kb, records: 100, dead: 24}), nil},
	} {
		if got := mergePolicy(c.segments); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestMergingIsBoundedAndEnds merges sizes as batches come, as Apply does.
func TestMergingIsBoundedAndEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var segments []segmentSize
	written, added := 0, 0
	for range 3000 {
		n := 1 + rng.IntN(1<<rng.IntN(21))
		added += n
		segments = append(segments, segmentSize{bytes: n, records: 1})
		for {
			chosen := mergePolicy(segments)
			if chosen == nil {
				break
			}
			if len(chosen) < 2 {
				t.Fatalf("%v of %d segments, none with deletions", chosen, len(segments))
			}
			var left []segmentSize
			merged := segmentSize{records: 1}
			for i, s := range segments {
				if slices.Contains(chosen, i) {
					merged.bytes += s.bytes
				} else {
					left = append(left, s)
				}
			}
			if merged.bytes > maxMerged {
				t.Fatalf("%d bytes merged at once", merged.bytes)
			}
			written += merged.bytes
			segments = append(left, merged)
		}
		if most := 8*tierFanout + 2*added/maxMerged; len(segments) > most {
			t.Fatalf("%d segments of %d bytes, want at most %d", len(segments), added, most)
		}
	}
	if written > 6*added {
		t.Errorf("%d bytes written for %d", written, added)
	}
}
