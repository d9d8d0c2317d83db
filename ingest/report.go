package ingest

import (
	"cmp"
	"fmt"
	"strings"
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
	// Remark says which items were left out and why, or that the source has no
	// record; "": neither. With Skipped it is that of the last run that looked, if
	// this one found the source where it was.
	Remark   string
	Complete bool // every record of the source was seen
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

// Verdict says in words how the run ended, if it did well.
func (r Report) Verdict() string {
	if strings.HasPrefix(r.Remark, catalog.NoRecords) {
		return r.Remark
	}
	return strings.TrimSuffix(cmp.Or(r.Former, "ok")+"; "+r.Remark, "; ")
}

// Failure is why the run failed, without the name of its source.
func (r Report) Failure() string {
	return strings.TrimPrefix(r.Err.Error(), "ingest: source "+r.Source+": ")
}

// maxReasons is how many reasons Reasons gives.
const maxReasons = 3

// Reasons says why items were skipped, each reason once: "a.md and 2 more: it has
// no number". Of all skipped items, problems are the ones that are known.
func Reasons(problems []Problem, all int) string {
	var reasons []string
	first, count := map[string]string{}, map[string]int{}
	for _, p := range problems {
		if !p.Skipped {
			continue
		}
		if count[p.Message]++; count[p.Message] == 1 {
			reasons = append(reasons, p.Message)
			first[p.Message] = p.Locator
		}
	}
	var parts []string
	for _, reason := range reasons[:min(maxReasons, len(reasons))] {
		at := first[reason]
		if more := count[reason] - 1; more > 0 {
			at += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, at+": "+reason)
		all -= count[reason]
	}
	if all > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", all))
	}
	return strings.Join(parts, "; ")
}
