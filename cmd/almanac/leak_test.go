package main

import (
	"runtime"

	"go.uber.org/goleak"
)

// leaked finds goroutines that were started since and run on. Some end with
// the memory they look after, so that this is collected first.
func leaked(before goleak.Option) (err error) {
	for range 5 {
		runtime.GC()
		if err = goleak.Find(before); err == nil {
			return nil
		}
	}
	return err
}
