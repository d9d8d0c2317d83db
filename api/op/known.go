package op

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"almanac/text/nearest"
)

// checkKnown rejects arguments the tool does not take: a misspelt optional one
// would otherwise be ignored silently.
func (o Operation) checkKnown(members map[string]json.RawMessage) error {
	known := o.arguments()
	given := slices.DeleteFunc(slices.Sorted(maps.Keys(members)), func(name string) bool {
		return slices.Contains(known, name)
	})
	return unknownArgument(given, known, o.Tool)
}

// checkSpelling rejects an unknown parameter of REST that is near a known one.
func (o Operation) checkSpelling(query url.Values, members map[string]json.RawMessage) error {
	given := slices.Collect(maps.Keys(members))
	var known []string
	for name := range query {
		given = append(given, name)
	}
	for _, p := range o.Params {
		if p.REST && !p.Path {
			known = append(known, p.Name)
		}
	}
	slices.Sort(given)
	for _, name := range given {
		if len(name) < minMisspelt || len(name) > maxEcho || slices.Contains(known, name) {
			continue
		}
		if near := nearest.Of(name, known); len(near) >= minMisspelt && !slices.Contains(given, near) {
			return Invalid("unknown parameter %s: did you mean %q?", Quote(name), near)
		}
	}
	return nil
}

// minMisspelt is the length from which a name is compared with known ones: any
// two letters are near each other.
const minMisspelt = 3

// unknownArgument returns the error about the first of the given names; nil if
// there are none.
func unknownArgument(given, known []string, operation string) error {
	if len(given) == 0 {
		return nil
	}
	name := Quote(given[0])
	if len(known) == 0 {
		return Invalid("unknown argument %s: %s takes none", name, operation)
	}
	if near := nearest.Of(given[0], known); near != "" {
		return Invalid("unknown argument %s: did you mean %q?", name, near)
	}
	return Invalid("unknown argument %s: %s takes %s", name, operation, strings.Join(known, ", "))
}
