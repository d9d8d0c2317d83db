package search

import (
	"context"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

var communitySpec = op.Spec{
	ID: "search_community", Tool: "search_community", Title: "Search what the community says", MayFail: unavailable,
	Summary: "The best of forum, mailing lists, blog and forge discussions for a question.",
	Description: "Searches forum, mailing lists, blog and forge discussions by meaning and returns the best of each; " +
		"use search for documentation and proposals.",
}

type communityIn struct {
	Query string `json:"query" required:"true" doc:"a question or topic in your own words"`
	Limit int    `json:"limit" default:"5" minimum:"1" maximum:"50" doc:"how many of each source"`
}

// Voices are what the community says, by source.
type Voices struct {
	Query   string  `json:"query"`
	Sources []Voice `json:"sources"`
}

// Voice is one source of them.
type Voice struct {
	Source string `json:"source" enum:"forum,mail,blog,forge"`
	kb.Found[Said]
}

// Said is a record found there.
type Said struct {
	kb.Item
	kb.Why
}

var (
	voices     = []string{"forum", "mail", "blog", "forge"}
	voiceKinds = [][]catalog.Kind{
		{catalog.KindTopic, catalog.KindPost}, {catalog.KindMailThread, catalog.KindMailMessage},
		{catalog.KindBlog}, {catalog.KindDiscussion, catalog.KindComment},
	}
)

func (s service) community(ctx context.Context, in communityIn) (Voices, error) {
	search := kb.Search{Field: "query", Query: in.Query, Limit: in.Limit}
	each, err := kb.BestOf(ctx, s.Base, search, voiceKinds, func(m kb.Match) (Said, error) {
		return Said{s.Item(m.Record), m.Why()}, nil
	})
	out := Voices{Query: in.Query}
	for i, found := range each {
		out.Sources = append(out.Sources, Voice{voices[i], found})
	}
	return out, err
}
