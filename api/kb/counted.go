package kb

import (
	"cmp"
	"context"
	"time"
)

// Counted writes what was counted just now, so that an answer has it, and says which of all
// that was counted may be listed: with private everything, else, where the service is
// published, only what catalog.PublicClients did. rule says so to who sees an empty list.
// If the catalog is busy the answer is a few seconds old.
func (b Base) Counted(ctx context.Context) (private bool, rule string) {
	writing, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	_ = b.Tally.Flush(writing) // what could not be written is kept
	why := "others may reach it"
	if b.Published != nil {
		published, err := b.Published(ctx)
		if published == "" && err == nil {
			return true, "only this machine reaches the service, so that each counts from the first"
		}
		why = cmp.Or(published, why)
	}
	return false, "the service is published (" + why + "), so that what fewer than five clients sent is not listed"
}
