//go:build !race

package networks_test

const raceDetector = false
