// Package wait lets tests wait for what another goroutine or process does. It is
// for what has no clock of its own to turn: what has one belongs into
// testing/synctest.
package wait

import (
	"testing"
	"time"
)

// Bound is how long a test waits for what takes a fraction of it, however busy the
// machine is: what has not come by then will not come.
const Bound = 2 * time.Minute

// Between two questions there is a pause, which grows: what takes seconds needs the
// processor more than who waits for it.
const shortest, longest = 5 * time.Millisecond, 100 * time.Millisecond

// Until asks until the answer is true, and fails the test if it never is.
func Until(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	pause := shortest
	for late := time.Now().Add(Bound); !holds(); pause = min(pause*5/4, longest) {
		if time.Now().After(late) {
			tb.Fatalf("not within %s: %s", Bound, what)
		}
		time.Sleep(pause)
	}
}
