package network

import "slices"

// Spelling returns which of some names is meant, in any case or by one of the
// network's aliases; "" for none.
func (n Network) Spelling(asked string, known []string) string {
	asked = fold(asked)
	for _, name := range known {
		means := append([]string{name}, n.Aliases[fold(name)]...)
		if slices.ContainsFunc(means, func(s string) bool { return fold(s) == asked }) {
			return name
		}
	}
	return ""
}
