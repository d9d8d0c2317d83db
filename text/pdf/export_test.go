package pdf

import "time"

var Budget = budget

// Read is Text for a file of which a processor has read for a while.
func Read(data []byte, used time.Duration) (string, int, error) {
	return read(&guard{data: data, used: func() time.Duration { return used }, most: budget(len(data))}, 0)
}
