// Package race tells tests whether the race detector watches them.
package race

import "testing"

// Skip skips a test that shares nothing between goroutines of its own, and that the
// detector makes several times as slow. The Makefile's targets rankings and programs
// run it without.
func Skip(tb testing.TB) {
	tb.Helper()
	if Enabled {
		tb.Skip("make rankings or make programs runs it, without the race detector")
	}
}
