package meili

import (
	"strconv"
	"strings"

	"almanac/retrieval/passage"
)

// filterOf returns a filter in the server's language, "" for all passages.
func filterOf(f passage.Filter) string {
	var parts []string
	for _, of := range []struct {
		attribute string
		values    []string
	}{{"kind", f.Kinds}, {"source", f.Sources}, {"container", f.Containers}, {"state", f.States}} {
		if len(of.values) == 0 {
			continue
		}
		quoted := make([]string, len(of.values))
		for i, v := range of.values {
			quoted[i] = `"` + attributeKey(v) + `"`
		}
		parts = append(parts, of.attribute+" IN ["+strings.Join(quoted, ", ")+"]")
	}
	// A record without a date matches no period.
	if !f.Since.IsZero() {
		parts = append(parts, "date >= "+strconv.FormatInt(ceilSeconds(f.Since.Unix(), f.Since.Nanosecond()), 10))
	}
	if !f.Until.IsZero() {
		parts = append(parts, "date < "+strconv.FormatInt(ceilSeconds(f.Until.Unix(), f.Until.Nanosecond()), 10))
	}
	if len(f.Records) > 0 {
		parts = append(parts, "record IN ["+joinInts(f.Records)+"]")
	}
	return strings.Join(parts, " AND ")
}

// ceilSeconds rounds up: dates are whole seconds.
func ceilSeconds(seconds int64, nanoseconds int) int64 {
	if nanoseconds > 0 {
		return seconds + 1
	}
	return seconds
}
