// Package soak says how often tests repeat what finds more the longer it goes on:
// kills at random moments, faults, walks over every answer.
package soak

import (
	"os"
	"testing"
)

// Rounds returns all rounds in `make soak`, and a fifth of them, at least one, in
// every other run.
func Rounds(all int) int {
	if os.Getenv("ALMANAC_SOAK") != "" {
		return all
	}
	return max(1, all/5)
}

// Turn reports whether the n-th of many rounds, which differ, is run: each in `make soak`,
// every fifth in every other run.
func Turn(n int) bool { return os.Getenv("ALMANAC_SOAK") != "" || n%5 == 0 }

// Only leaves a test to `make soak` for a reason: it costs minutes, and what it
// holds changes rarely.
func Only(tb testing.TB, reason string) {
	tb.Helper()
	if os.Getenv("ALMANAC_SOAK") == "" {
		tb.Skipf("only in make soak: %s", reason)
	}
}
