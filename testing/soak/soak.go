// Package soak says how often tests repeat what finds more the longer it goes on:
// kills at random moments, faults, walks over every answer.
package soak

import "os"

// Rounds returns all rounds in `make soak`, and a fifth of them, at least one, in
// every other run.
func Rounds(all int) int {
	if os.Getenv("ALMANAC_SOAK") != "" {
		return all
	}
	return max(1, all/5)
}
