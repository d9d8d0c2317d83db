//go:build race

package embedded_test

// raceDetector makes single-threaded arithmetic twenty times as slow.
const raceDetector = true
