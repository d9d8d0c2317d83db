//go:build race

package networks_test

// raceDetector makes reading thousands of real pages take minutes.
const raceDetector = true
