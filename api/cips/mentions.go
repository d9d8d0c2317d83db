package cips

import (
	"context"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

var mentionsSpec = op.Spec{
	ID: "get_cip_mentions", Path: "/api/v1/cips/{id}/mentions", Tool: "get_cip_mentions",
	Title: "Who mentions a proposal", MayFail: notFound,
	Summary: "Backlinks to one proposal from every kind of content.",
	Description: "Lists what mentions one improvement proposal: forum, mail, blog, grant proposals, sibling proposals " +
		"and other content, with counts.",
}

// mentionsShown bounds each list of mentions.
const mentionsShown = 50

// Mentions are the backlinks to a proposal.
type Mentions struct {
	ID        string         `json:"id"`
	Counts    MentionCounts  `json:"counts"`
	Forum     []kb.Reference `json:"forum"`
	Mail      []kb.Reference `json:"mailing_list"`
	Blog      []kb.Reference `json:"blog"`
	Proposals []kb.Reference `json:"proposals"`
	CIPs      []kb.Reference `json:"cips"`
	Other     []kb.Reference `json:"other" doc:"documentation, releases and every other kind"`
}

// MentionCounts counts mentioning records, also those beyond the lists.
type MentionCounts struct {
	Forum     int `json:"forum"`
	Mail      int `json:"mailing_list"`
	Blog      int `json:"blog"`
	Proposals int `json:"proposals"`
	CIPs      int `json:"cips"`
	Other     int `json:"other"`
	Total     int `json:"total"`
}

func (s service) mentions(ctx context.Context, in idIn) (Mentions, error) {
	r, err := s.CIPHead(ctx, in.ID)
	if err != nil {
		return Mentions{}, err
	}
	all, err := s.Linked(ctx, r)
	m := Mentions{ID: s.ID(r)}
	m.Counts.Total = len(all)
	for _, x := range all {
		list, count := &m.Other, &m.Counts.Other
		switch x.Record.Kind {
		case catalog.KindTopic, catalog.KindPost:
			list, count = &m.Forum, &m.Counts.Forum
		case catalog.KindMailThread, catalog.KindMailMessage:
			list, count = &m.Mail, &m.Counts.Mail
		case catalog.KindBlog:
			list, count = &m.Blog, &m.Counts.Blog
		case catalog.KindProposal:
			list, count = &m.Proposals, &m.Counts.Proposals
		case catalog.KindCIP:
			list, count = &m.CIPs, &m.Counts.CIPs
		}
		if *count++; len(*list) < mentionsShown {
			*list = append(*list, s.Reference(x))
		}
	}
	return m, err
}
