// Package memory keeps the process within the memory that it may use.
package memory

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// Respect makes the garbage collector work harder once nine tenths of the container's
// memory are used, unless the environment sets GOMEMLIMIT, and bounds the garbage of a
// large heap, unless it sets GOGC. It is called once.
func Respect() {
	if os.Getenv("GOMEMLIMIT") == "" {
		if limit, err := memlimit.FromCgroup(); err == nil && limit < math.MaxInt64 { // else there is none
			debug.SetMemoryLimit(int64(limit / 10 * 9))
		}
	}
	if os.Getenv("GOGC") == "" {
		afterCollections(boundGarbage())
	}
}

// garbage is how much a large heap may grow before it is collected, in bytes. Go's
// default is by as much as is live, which is a gigabyte and a half for the index of a
// million passages. Collecting that costs little: it has few pointers to follow.
const garbage = 768 << 20

// leastPercent of the live heap may always be gained, so that a heap of many gigabytes
// is not collected all the time.
const leastPercent = 20

// percentOf is how much a heap may grow, in percent of what is live.
func percentOf(live uint64) int {
	return int(max(leastPercent, min(100, garbage*100/max(live, 1))))
}

// boundGarbage returns a function that sets how much the heap may grow from now on.
func boundGarbage() func() {
	percent := 100
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	return func() {
		metrics.Read(sample)
		if next := percentOf(sample[0].Value.Uint64()); next != percent {
			percent = next
			debug.SetGCPercent(percent)
		}
	}
}

// afterCollections calls a function after each collection, which takes the object
// that it waits for.
func afterCollections(do func()) {
	object := new([64]byte)
	runtime.AddCleanup(object, func(do func()) {
		do()
		afterCollections(do)
	}, do)
}
