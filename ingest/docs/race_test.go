//go:build race

package docs_test

// raceDetector makes reading thousands of real pages take minutes.
const raceDetector = true
