package retrieval

import (
	"fmt"

	"almanac/retrieval/passage"
)

// attributes are counted by facets.
var attributes = map[string]func(passage.Attributes) string{
	"kind":      func(a passage.Attributes) string { return a.Kind },
	"source":    func(a passage.Attributes) string { return a.Source },
	"container": func(a passage.Attributes) string { return a.Container },
	"state":     func(a passage.Attributes) string { return a.State },
}

// facets are the attributes to count.
type facets []string

func attributesNamed(names []string) (facets, error) {
	for _, name := range names {
		if attributes[name] == nil {
			return nil, fmt.Errorf("%w: there is no attribute %q to count", ErrBadQuery, name)
		}
	}
	return names, nil
}

// of counts the results by the values of each attribute, which some lack: they
// add up to what can be paged through, on every stack.
func (f facets) of(candidates []*candidate) map[string]map[string]int {
	if len(f) == 0 {
		return nil
	}
	counts := make(map[string]map[string]int, len(f))
	for _, name := range f {
		counts[name] = map[string]int{}
		for _, c := range candidates {
			if value := attributes[name](c.document.Attributes); value != "" {
				counts[name][value]++
			}
		}
	}
	return counts
}
