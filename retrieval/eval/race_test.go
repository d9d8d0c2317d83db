//go:build race

package eval_test

// raceDetector makes fitting ten times as slow, and indexing a whole snapshot
// take minutes.
const raceDetector = true
