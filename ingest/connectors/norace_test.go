//go:build !race

package connectors_test

const raceDetector = false
