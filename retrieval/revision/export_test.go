package revision

import "time"

// Every sets the times between two looks of a follower.
func (f *Follower) Every(look, records time.Duration) { f.lookEvery, f.recordsEvery = look, records }
