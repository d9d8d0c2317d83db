package search

import (
	"context"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

var featureSpec = op.Spec{
	ID: "find_cip_for_feature", Tool: "find_cip_for_feature", Title: "Find proposals for a feature", MayFail: unavailable,
	Summary:     "Improvement proposals that match a description of a feature.",
	Description: "Finds the improvement proposals that specify or touch a feature, by title and text, with their status.",
}

type featureIn struct {
	Feature string `json:"feature" required:"true" doc:"what the feature does, in your own words"`
}

// FeatureProposals are the proposals found for a feature.
type FeatureProposals struct {
	Feature string `json:"feature"`
	kb.Found[FeatureProposal]
}

// FeatureProposal is a found proposal with why it was found.
type FeatureProposal struct {
	kb.CIP
	kb.Why
}

// found is how many records the operations of this package that take no limit
// return.
const found = 10

func (s service) feature(ctx context.Context, in featureIn) (FeatureProposals, error) {
	search := kb.Search{Field: "feature", Query: in.Feature, Kinds: []catalog.Kind{catalog.KindCIP}, Limit: found}
	all, err := kb.FindRows(ctx, s.Base, search, func(m kb.Match) (FeatureProposal, error) {
		row, err := s.CIPRow(m.Record)
		return FeatureProposal{row, m.Why()}, err
	})
	return FeatureProposals{in.Feature, all}, err
}
