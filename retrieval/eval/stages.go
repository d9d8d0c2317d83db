package eval

import (
	"fmt"
	"slices"

	"almanac/retrieval/ranking"
)

// baselines are the profiles of single stages, simplest first.
var baselines = []string{"keyword", "passages", "dense", "rrf"}

// Stages returns the profiles that show what each stage adds, from keywords
// alone to the whole profile, the last but one without collapsing copies.
func Stages(whole ranking.Profile) ([]ranking.Profile, error) {
	reranked := whole
	reranked.Name, reranked.Collapse = "rerank", 0
	if slices.Contains(baselines, whole.Name) || whole.Name == reranked.Name {
		return nil, fmt.Errorf("%s is a stage itself", whole.Name)
	}
	var all []ranking.Profile
	for _, name := range baselines {
		p, err := ranking.Load(name)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return append(all, reranked, whole), nil
}
