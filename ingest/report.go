package ingest

import (
	"time"

	"almanac/catalog"
)

// maxProblems is how many of a run's skipped items, and how many of its odd
// ones, a report names and the log shows.
const maxProblems = 100

// Report says what one run of a source did.
type Report struct {
	Source string
	catalog.Result
	Skipped  int       // bad items left out
	Warned   int       // oddities of items that were read all the same
	Problems []Problem // the first hundred of each
	Complete bool      // every record of the source was seen
	Took     time.Duration
	Err      error // why the run failed; nil when it did not
}

// Problem is a bad or odd item.
type Problem struct {
	Locator string
	Message string
	Skipped bool // left out
}
