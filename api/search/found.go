package search

import (
	"context"
	"slices"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

type featureIn struct {
	Feature string `json:"feature" required:"true" doc:"what the feature does, in your own words"`
	arg.Most
}

// FeatureProposals lists the proposals found for a feature.
type FeatureProposals struct {
	Feature string `json:"feature"`
	find.Found[FeatureProposal]
}

// FeatureProposal is a proposal with the reason it was found.
type FeatureProposal struct {
	kb.CIP
	find.Why
}

var feature = kb.New(op.Spec{
	ID: "find_cip_for_feature", Tool: "find_cip_for_feature", MayFail: unavailable,
	Kinds: []catalog.Kind{catalog.KindCIP},
	Doc: `
Find proposals for a feature
Improvement proposals that match a description of a feature.

Finds the improvement proposals that specify or touch a feature, by title and text, with their status.
`,
}, func(ctx context.Context, b kb.Base, in featureIn) (FeatureProposals, error) {
	search := find.Search{Field: "feature", Query: in.Feature, Kinds: []catalog.Kind{catalog.KindCIP}, Limit: in.Limit}
	all, err := find.Rows(ctx, b, search, func(b kb.Base, m find.Match) (FeatureProposal, error) {
		row, err := b.CIPRow(m.Record)
		return FeatureProposal{row, m.Why()}, err
	})
	return FeatureProposals{in.Feature, all}, err
})

type notesIn struct {
	Feature string `json:"feature" required:"true" doc:"feature, fix or change to look for"`
	arg.Most
}

// Notes are the found release notes.
type Notes struct {
	Feature string `json:"feature"`
	find.Found[Note]
}

// Note is one release's notes with the passage that matched.
type Note struct {
	kb.Item
	Repository string `json:"repository"`
	Version    string `json:"version"`
	Prerelease bool   `json:"prerelease"`
	find.Why
}

var notes = kb.New(op.Spec{
	ID: "search_release_notes", Tool: "search_release_notes", MayFail: unavailable,
	Kinds: []catalog.Kind{catalog.KindRelease},
	Doc: `
Search release notes
Release notes that mention a feature.

Searches the release notes of every indexed repository for a feature, fix or change and names the version.
`,
}, func(ctx context.Context, b kb.Base, in notesIn) (Notes, error) {
	search := find.Search{Field: "feature", Query: in.Feature, Kinds: []catalog.Kind{catalog.KindRelease}, Limit: in.Limit}
	all, err := find.Rows(ctx, b, search, func(b kb.Base, m find.Match) (Note, error) {
		d, err := kb.Decode[catalog.Release](m.Record)
		n := Note{b.Item(m.Record), m.Record.Container, d.Version, d.Prerelease, m.Why()}
		n.Container = "" // it is the repository
		return n, err
	})
	return Notes{in.Feature, all}, err
})

type communityIn struct {
	Query string `json:"query" required:"true" doc:"a question or topic in your own words"`
	Limit int    `json:"limit" default:"5" minimum:"1" maximum:"50" doc:"how many of each source"`
}

// Voices are what the community says, by source.
type Voices struct {
	Query   string  `json:"query"`
	Sources []Voice `json:"sources"`
}

// Voice is one source of Voices.
type Voice struct {
	Source string `json:"source" enum:"forum,mail,blog,forge"`
	find.Found[Said]
}

// Said is a record found there.
type Said struct {
	kb.Item
	find.Why
}

func said(b kb.Base, m find.Match) (Said, error) { return Said{b.Item(m.Record), m.Why()}, nil }

var (
	voices     = []string{catalog.PlaceForum, catalog.PlaceMail, catalog.PlaceBlog, catalog.PlaceForge}
	voiceKinds = [][]catalog.Kind{
		catalog.KindsAt(catalog.PlaceForum), catalog.KindsAt(catalog.PlaceMail), catalog.KindsAt(catalog.PlaceBlog),
		catalog.KindsAt(catalog.PlaceForge, catalog.RoleThread, catalog.RoleMessage),
	}
)

var community = kb.New(op.Spec{
	ID: "search_community", Tool: "search_community", MayFail: unavailable, Kinds: slices.Concat(voiceKinds...),
	Doc: `
Search what the community says
The best of forum, mailing lists, blog and forge discussions for a question.

Searches forum, mailing lists, blog and forge discussions by meaning and returns the best of each; use search
for documentation and proposals.
`,
}, func(ctx context.Context, b kb.Base, in communityIn) (Voices, error) {
	search := find.Search{Field: "query", Query: in.Query, Limit: in.Limit}
	each, err := find.RowsOfEach(ctx, b, search, voiceKinds, said)
	out := Voices{Query: in.Query}
	for i, found := range each {
		out.Sources = append(out.Sources, Voice{voices[i], found})
	}
	return out, err
})
