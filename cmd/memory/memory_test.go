package memory

import (
	"runtime"
	"sync/atomic"
	"testing"

	"almanac/testing/wait"
)

func TestALargeHeapGainsLess(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 100}, {1 << 20, 100}, {garbage, 100}, {2 * garbage, 50}, {1600 << 20, 48}, {100 << 30, 20}} {
		if got := percentOf(c.live); got != c.want {
			t.Errorf("of %d MB: %d %%, want %d", c.live>>20, got, c.want)
		}
	}
}

// TestCollectionsAreFollowed holds that each collection is noticed, not the first alone.
func TestCollectionsAreFollowed(t *testing.T) {
	var n atomic.Int64
	afterCollections(func() { n.Add(1) })
	for want := range int64(3) {
		wait.Until(t, "another collection is noticed", func() bool {
			runtime.GC()
			return n.Load() > want
		})
	}
}
