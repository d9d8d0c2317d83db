package derive

import (
	"slices"

	"almanac/catalog"
)

// Requirement is a link of the requires graph, from the dependent to its
// prerequisite.
type Requirement struct {
	From int64          // record id
	To   catalog.Record // with nothing but its kind and key if it is not in the catalog
}

// Prerequisite is a proposal that must be Final first.
type Prerequisite struct {
	Proposal   catalog.Record
	Depth      int      // 1 for a direct prerequisite
	RequiredBy []string // keys, each once
	Final      bool
}

// Prerequisites walks the requires graph breadth first from a record, which
// stands in the graph under a key. In a cycle, the start is not its own
// prerequisite.
func Prerequisites(start catalog.Record, key string, graph []Requirement) []Prerequisite {
	to := map[int64][]catalog.Record{}
	for _, r := range graph {
		to[r.From] = append(to[r.From], r.To)
	}
	start.Key = key
	queue := []Prerequisite{{Proposal: start}}
	for i := 0; i < len(queue); i++ { // which grows
		from := queue[i]
		for _, r := range to[from.Proposal.ID] {
			met := slices.IndexFunc(queue, func(p Prerequisite) bool { return p.Proposal.Key == r.Key })
			switch {
			case met == 0:
			case met < 0:
				queue = append(queue, Prerequisite{r, from.Depth + 1, []string{from.Proposal.Key}, r.State == "Final"})
			case !slices.Contains(queue[met].RequiredBy, from.Proposal.Key):
				queue[met].RequiredBy = append(queue[met].RequiredBy, from.Proposal.Key)
			}
		}
	}
	return queue[1:]
}
