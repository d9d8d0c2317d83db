package pdf

import (
	"syscall"
	"time"
)

// threadTime is the processor time that the thread has had, which does not depend on how
// busy the machine is.
func threadTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &r); err != nil {
		return 0 // the timer of Text is left
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
