package eval

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"almanac/text/nearest"
)

// maxNamed is how many ids Missing names.
const maxNamed = 5

// Missing says which documents of a collection's judgments and pool are not
// indexed, and which are nearest to them by name; "" if all are. How many of the
// relevant ones are missing, those of a grade of at least relevantFrom, bounds
// every measure.
func Missing(c Collection, names map[int64]string, relevantFrom int) string {
	indexed := map[string]bool{}
	for _, name := range names {
		indexed[name] = true
	}
	relevant := map[string]bool{}
	for _, q := range c.Queries {
		for id, grade := range c.Judgments[q.ID] {
			if grade >= relevantFrom {
				relevant[id] = true
			}
		}
	}
	var missing []string
	lost := 0
	for _, id := range slices.Sorted(maps.Keys(c.Documents())) {
		if indexed[id] {
			continue
		}
		missing = append(missing, id)
		if relevant[id] {
			lost++
		}
	}
	if len(missing) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%d of %d relevant documents are not indexed; of all that are named, %d are not:\n", lost,
		len(relevant), len(missing))
	known := slices.Sorted(maps.Keys(indexed))
	for _, id := range missing[:min(maxNamed, len(missing))] {
		fmt.Fprintf(&out, "  no record has the path, key, id or address %q", id)
		if near := meant(id, known); near != "" {
			fmt.Fprintf(&out, "; did you mean %q?", near)
		}
		out.WriteString("\n")
	}
	if more := len(missing) - maxNamed; more > 0 {
		fmt.Fprintf(&out, "  and %d more\n", more)
	}
	return out.String()
}

// meant returns the one document with the same file name, which may have
// moved, or else the one with the most similar path; "" if there is neither.
func meant(id string, known []string) string {
	var moved []string
	for _, k := range known {
		if path.Base(k) == path.Base(id) {
			moved = append(moved, k)
		}
	}
	if len(moved) == 1 {
		return moved[0]
	}
	return nearest.Of(id, known)
}
