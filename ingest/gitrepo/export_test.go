package gitrepo

import (
	"testing"
	"time"
)

// SetSlow makes servers slow after another time, until the test ends.
func SetSlow(t *testing.T, after time.Duration) {
	before := slow
	slow = after
	t.Cleanup(func() { slow = before })
}
