//go:build race

package connectors_test

const raceEnabled = true
