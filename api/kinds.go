package api

import (
	"context"
	"slices"

	"almanac/api/kb"
	"almanac/catalog"
	"almanac/catalog/network"
)

// Kinds tells the kinds of which the catalog has records, in the order of the table of
// kinds. It tells none before each source has run once, and if it cannot be known.
func Kinds(b kb.Base) func(context.Context) []catalog.Kind {
	b = b.Prepared()
	return func(ctx context.Context) (kinds []catalog.Kind) {
		states, err := b.Catalog.Sources(ctx)
		if err != nil || slices.ContainsFunc(b.Network.Sources, func(s network.Source) bool {
			return !slices.ContainsFunc(states, func(st catalog.SourceState) bool {
				return st.Name == s.Name && !st.LastRun.IsZero()
			})
		}) {
			return nil
		}
		counts, err := b.Counts(ctx)
		if err != nil {
			return nil
		}
		for _, info := range catalog.Kinds {
			if slices.ContainsFunc(counts, func(c catalog.Count) bool { return c.Kind == info.Kind && c.N > 0 }) {
				kinds = append(kinds, info.Kind)
			}
		}
		return kinds
	}
}
