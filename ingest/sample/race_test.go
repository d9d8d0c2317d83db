//go:build race

package sample_test

// raceDetector makes syncing the sample again and again take minutes.
const raceDetector = true
