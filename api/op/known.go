package op

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"almanac/catalog/network"
)

// checkKnown refuses arguments the tool does not take: a misspelt optional
// one would otherwise be ignored without a word.
func (o Operation) checkKnown(members map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if o.ToolIn.Properties[name] != nil {
			continue
		}
		if len(o.ToolIn.PropertyOrder) == 0 {
			return Invalid("unknown argument %q: %s takes none", name, o.Tool)
		}
		if near := network.Nearest(name, o.ToolIn.PropertyOrder); near != "" {
			return Invalid("unknown argument %q: did you mean %q?", name, near)
		}
		return Invalid("unknown argument %q: %s takes %s", name, o.Tool, strings.Join(o.ToolIn.PropertyOrder, ", "))
	}
	return nil
}
