//go:build race

package connectors_test

// raceDetector takes several times the memory.
const raceDetector = true
