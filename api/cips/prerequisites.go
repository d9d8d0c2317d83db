package cips

import (
	"slices"

	"almanac/catalog"
)

// requirement is a link of the requires graph, from the dependent to its
// prerequisite.
type requirement struct {
	From int64          // record id
	To   catalog.Record // with nothing but its kind and key if it is not in the catalog
}

// prerequisite is a proposal that must be Final first.
type prerequisite struct {
	Proposal   catalog.Record
	Depth      int      // 1 for a direct prerequisite
	RequiredBy []string // keys, each once
	Final      bool
}

// prerequisites walks the requires graph breadth first from a record, which
// stands in the graph under a key. In a cycle, the start is not its own
// prerequisite.
func prerequisites(start catalog.Record, key string, graph []requirement) []prerequisite {
	to := map[int64][]catalog.Record{}
	for _, r := range graph {
		to[r.From] = append(to[r.From], r.To)
	}
	start.Key = key
	queue := []prerequisite{{Proposal: start}}
	for i := 0; i < len(queue); i++ { // which grows
		from := queue[i]
		for _, r := range to[from.Proposal.ID] {
			met := slices.IndexFunc(queue, func(p prerequisite) bool { return p.Proposal.Key == r.Key })
			switch {
			case met == 0:
			case met < 0:
				queue = append(queue, prerequisite{r, from.Depth + 1, []string{from.Proposal.Key}, r.State == "Final"})
			case !slices.Contains(queue[met].RequiredBy, from.Proposal.Key):
				queue[met].RequiredBy = append(queue[met].RequiredBy, from.Proposal.Key)
			}
		}
	}
	return queue[1:]
}
