package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Floor holds the least values of measures, by their keys.
type Floor map[string]float64

// Check returns an error that names a key without a measure, or a value that no
// measure has.
func (f Floor) Check() error {
	var keys []string
	for _, m := range AllMeasures {
		keys = append(keys, m.Key)
	}
	for _, key := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains(keys, key) {
			return fmt.Errorf("there is no measure %q: known are %s", key, strings.Join(keys, ", "))
		}
		if !(f[key] >= 0 && f[key] <= 1) {
			return fmt.Errorf("the floor of %s is %v: must be between 0 and 1", key, f[key])
		}
	}
	return nil
}

// Under says what of a report is under the floor and by how much, a line each.
// Failures are: a mean over the other queries is of no use as a check.
func (f Floor) Under(r Report) (lines []string) {
	if len(f) == 0 {
		return nil
	}
	name := r.Collection + ", " + r.Profile
	if n := r.Unmeasured(); n > 0 {
		lines = append(lines, fmt.Sprintf("%s: %d of %d searches failed or were incomplete", name, n, r.Queries))
	}
	for _, m := range AllMeasures {
		least, set := f[m.Key]
		if got := *m.Of(&r.Measures); set && got < least {
			lines = append(lines, fmt.Sprintf("%s: %s is %.4f, %.4f under its floor of %.4f", name, m.Title, got,
				least-got, least))
		}
	}
	return lines
}
