package index

import (
	"context"
	"errors"
	"testing"

	"almanac/catalog"
)

// ending is a context that is cancelled when it has been looked at as often as it may be.
type ending struct {
	context.Context
	looks *int
}

func (e ending) Err() error {
	if *e.looks--; *e.looks < 0 {
		return context.Canceled
	}
	return nil
}

// TestAnalysingEndsBetweenRecords: whoever stops the program waits for no more than those that
// are being cut.
func TestAnalysingEndsBetweenRecords(t *testing.T) {
	for _, looks := range []int{0, 3} {
		taken, left := 0, looks
		all, err := (&Follower{}).analyseAll(ending{t.Context(), &left}, make([]catalog.Record, 10))
		for _, a := range all {
			if a != nil {
				taken++
			}
		}
		if !errors.Is(err, context.Canceled) || taken != looks {
			t.Errorf("%d records are cut, want %d: %v", taken, looks, err)
		}
	}
}
