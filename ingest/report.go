package ingest

import (
	"time"

	"almanac/catalog"
)

// maxProblems is how many skipped items, and how many warnings, of a run its
// report and the log name.
const maxProblems = 100

// Report is the result of one run of a source.
type Report struct {
	Source string
	catalog.Result
	Skipped  int       // bad items left out
	Warned   int       // warnings about items that were read nevertheless
	Problems []Problem // the first hundred of each
	Complete bool      // every record of the source was seen
	Took     time.Duration
	Err      error // why the run failed; nil if it succeeded
	// Former says what became of a former source, which has no runs.
	Former string
}

// Problem is a bad or odd item.
type Problem struct {
	Locator string
	Message string
	Skipped bool // left out
}
