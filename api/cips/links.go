package cips

import (
	"context"
	"slices"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
)

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

// MentionCounts counts mentioning records, including those cut from the lists.
type MentionCounts struct {
	Forum     int `json:"forum"`
	Mail      int `json:"mailing_list"`
	Blog      int `json:"blog"`
	Proposals int `json:"proposals"`
	CIPs      int `json:"cips"`
	Other     int `json:"other"`
	Total     int `json:"total"`
}

var mentions = kb.New(op.Spec{
	ID: "get_cip_mentions", Path: "/api/v1/cips/{id}/mentions", Tool: "get_cip_mentions", MayFail: notFound,
	Kinds: []catalog.Kind{catalog.KindCIP},
	Doc: `
Who mentions a proposal
Backlinks to one proposal from every kind of content.

Lists what mentions one improvement proposal: forum, mail, blog, grant proposals, sibling proposals and other
content, with counts.
`,
}, runMentions)

// linkedTo returns a proposal and the records that refer to it.
func linkedTo(ctx context.Context, b kb.Base, id arg.CIPID) (catalog.Record, []kb.Linked, error) {
	r, err := b.CIPHead(ctx, id)
	if err != nil {
		return r, nil, err
	}
	all, err := b.Referrers(ctx, r)
	return r, all, err
}

func runMentions(ctx context.Context, b kb.Base, in idIn) (Mentions, error) {
	r, all, err := linkedTo(ctx, b, in.ID)
	m := Mentions{ID: b.ID(r)}
	m.Counts.Total = len(all)
	for _, x := range all {
		list, count := &m.Other, &m.Counts.Other
		switch info, _ := catalog.InfoOf(x.Record.Kind); {
		case info.Place == catalog.PlaceForum:
			list, count = &m.Forum, &m.Counts.Forum
		case info.Place == catalog.PlaceMail:
			list, count = &m.Mail, &m.Counts.Mail
		case info.Place == catalog.PlaceBlog:
			list, count = &m.Blog, &m.Counts.Blog
		case info.Place == catalog.PlaceGrants:
			list, count = &m.Proposals, &m.Counts.Proposals
		case info.Place == catalog.PlaceCIPs && info.Role == catalog.RoleProposal:
			list, count = &m.CIPs, &m.Counts.CIPs
		}
		if *count++; len(*list) < mentionsShown {
			*list = append(*list, b.Reference(x))
		}
	}
	return m, err
}

type citationsIn struct {
	ID arg.CIPID `json:"id" tool:"cip_id" required:"true"`
}

// Citations are the citation graph of a proposal.
type Citations struct {
	ID      string         `json:"id"`
	Total   int            `json:"total"`
	Sources []CitingSource `json:"sources" doc:"sibling proposals, forum, mail, forge, blog, videos, then the rest"`
	Cites   []string       `json:"cites" doc:"ids of proposals that this one cites"`
}

// CitingSource is one kind of citing content.
type CitingSource struct {
	Source  string         `json:"source"`
	Count   int            `json:"count"`
	Samples []kb.Reference `json:"samples"`
}

// citing are the places of citations, in the order of the answer.
var citing = []string{
	catalog.PlaceCIPs, catalog.PlaceForum, catalog.PlaceMail, catalog.PlaceForge, catalog.PlaceBlog,
	catalog.PlaceVideos, catalog.PlaceGrants, catalog.PlaceDocs,
}

// citationSamples bounds each sample.
const citationSamples = 5

var citations = kb.New(op.Spec{
	ID: "get_cip_citations", Path: "/api/v1/cips/{id}/citations", Tool: "get_cip_citations", MayFail: notFound,
	Kinds: []catalog.Kind{catalog.KindCIP},
	Doc: `
Citations of a proposal
Citation graph of one proposal: counts and samples with snippets per source.

Counts what cites one improvement proposal by source and gives samples with the sentence around the citation.
`,
}, runCitations)

func runCitations(ctx context.Context, b kb.Base, in citationsIn) (Citations, error) {
	r, all, err := linkedTo(ctx, b, in.ID)
	if err != nil {
		return Citations{}, err
	}
	c := Citations{ID: b.ID(r), Total: len(all)}
	for _, place := range citing {
		row := CitingSource{Source: place}
		for _, x := range all {
			if x.Record.Kind.Place() != place {
				continue
			}
			if row.Count++; len(row.Samples) < citationSamples {
				row.Samples = append(row.Samples, b.Reference(x))
			}
		}
		c.Sources = append(c.Sources, row)
	}
	c.Cites, err = citedBy(ctx, b, r)
	return c, err
}

// citedBy returns the ids of the other proposals that a record links to, sorted.
func citedBy(ctx context.Context, b kb.Base, r catalog.Record) ([]string, error) {
	links, err := b.Catalog.LinksFrom(ctx, r.ID)
	var ids []string
	for _, l := range links {
		if l.To.Kind == catalog.KindCIP && l.To != r.Ref() {
			ids = append(ids, b.Network.Proposals.ID(l.To.Key))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}
