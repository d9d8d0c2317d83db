package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Depth is how many results of a page are counted.
const Depth = 20

// Choice is what was shown for a query, best first, and what was opened.
type Choice struct {
	Query   string  `json:"query"`
	Shown   []int64 `json:"shown"`             // record ids
	Clicked int     `json:"clicked,omitempty"` // position from 1; 0: none
}

// ParseClicks reads a report, strictly.
func ParseClicks(body []byte) (Choice, error) {
	var r Choice
	if err := json.Unmarshal(body, &r); err != nil {
		return r, errors.New("the body must be a JSON object with query, shown and clicked")
	}
	sorted := slices.Sorted(slices.Values(r.Shown))
	switch {
	case r.Query == "":
		return r, errors.New("query is missing")
	case len(r.Shown) == 0 || len(r.Shown) > Depth:
		return r, fmt.Errorf("shown must have 1 to %d records", Depth)
	case sorted[0] < 1 || len(slices.Compact(sorted)) < len(r.Shown):
		return r, errors.New("shown must have ids of records, each once")
	case r.Clicked < 0 || r.Clicked > len(r.Shown):
		return r, errors.New("clicked must be a position in shown, or 0")
	}
	return r, nil
}
