//go:build race

package main

// raceDetector makes tests that compute, or start one process after the other, take
// minutes.
const raceDetector = true
