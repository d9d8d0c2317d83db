//go:build !race

package sample_test

const raceDetector = false
