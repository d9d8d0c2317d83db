//go:build !linux

package pdf

import "time"

var start = time.Now()

// threadTime is by the clock where the processor time of a thread is not known.
func threadTime() time.Duration { return time.Since(start) }
