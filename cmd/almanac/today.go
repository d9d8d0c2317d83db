package main

import (
	"time"

	"almanac/text/dates"
)

// clockStart is set by the linker, as -X main.clockStart=2031-05-06T12:00:00Z, where answers are compared with those of another
// day: the program then takes this time for the time of its start.
var clockStart string

// now is the clock of what the program stores and answers.
var now = clock(clockStart)

func clock(from string) func() time.Time {
	at := dates.At(from, dates.Instant)
	if at.IsZero() {
		return time.Now
	}
	began := time.Now()
	return func() time.Time { return at.Add(time.Since(began)) }
}
