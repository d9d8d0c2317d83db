//go:build race

package race

// Enabled reports whether the race detector is part of the program.
const Enabled = true
