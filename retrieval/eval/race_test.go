//go:build race

package eval_test

// raceDetector makes indexing a whole snapshot take minutes.
const raceDetector = true
