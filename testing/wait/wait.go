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

// Until asks until the answer is true, and fails the test if it never is.
func Until(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	for late := time.Now().Add(Bound); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(late) {
			tb.Fatalf("not within %s: %s", Bound, what)
		}
	}
}
