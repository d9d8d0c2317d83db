package op

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"almanac/catalog/network"
)

// checkKnown rejects arguments the tool does not take: a misspelt optional one
// would otherwise be ignored silently.
func (o Operation) checkKnown(members map[string]json.RawMessage) error {
	given := slices.DeleteFunc(slices.Sorted(maps.Keys(members)), func(name string) bool {
		return o.ToolIn.Properties[name] != nil
	})
	return unknownArgument(given, o.ToolIn.PropertyOrder, o.Tool)
}

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
	if near := network.Nearest(given[0], known); near != "" {
		return Invalid("unknown argument %s: did you mean %q?", name, near)
	}
	return Invalid("unknown argument %s: %s takes %s", name, operation, strings.Join(known, ", "))
}
