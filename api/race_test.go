//go:build race

package api_test

// raceDetector makes walks of one client over the whole sample five times as slow.
const raceDetector = true
