package cips

import (
	"context"
	"slices"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

var citationsSpec = op.Spec{
	ID: "get_cip_citations", Path: "/api/v1/cips/{id}/citations", Tool: "get_cip_citations",
	Title: "Citations of a proposal", MayFail: notFound,
	Summary: "Citation graph of one proposal: counts and samples with snippets per source.",
	Description: "Counts what cites one improvement proposal by source and gives samples with the sentence " +
		"around the citation.",
}

type citationsIn struct {
	ID kb.CIPID `json:"id" tool:"cip_id" required:"true"`
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

// citationSamples bounds each sample.
const citationSamples = 5

// citing names the sources of citations in the order of the answer. The last
// has every other kind.
var citing = []struct {
	name  string
	kinds []catalog.Kind
}{
	{"cips", []catalog.Kind{catalog.KindCIP, catalog.KindAttachment}},
	{"forum", []catalog.Kind{catalog.KindTopic, catalog.KindPost}},
	{"mail", []catalog.Kind{catalog.KindMailThread, catalog.KindMailMessage}},
	{"forge", []catalog.Kind{
		catalog.KindIssue, catalog.KindPull, catalog.KindDiscussion, catalog.KindComment, catalog.KindRelease, catalog.KindRepo,
	}},
	{"blog", []catalog.Kind{catalog.KindBlog}},
	{"videos", []catalog.Kind{catalog.KindVideo}},
	{"proposals", []catalog.Kind{catalog.KindProposal}},
	{"docs", nil},
}

func (s service) citations(ctx context.Context, in citationsIn) (Citations, error) {
	r, err := s.CIPHead(ctx, in.ID)
	if err != nil {
		return Citations{}, err
	}
	all, err := s.Linked(ctx, r)
	if err != nil {
		return Citations{}, err
	}
	c := Citations{ID: s.ID(r), Total: len(all)}
	for _, source := range citing {
		c.Sources = append(c.Sources, CitingSource{Source: source.name})
	}
	for _, x := range all {
		at := len(citing) - 1
		for j, source := range citing {
			if slices.Contains(source.kinds, x.Record.Kind) {
				at = j
			}
		}
		source := &c.Sources[at]
		if source.Count++; len(source.Samples) < citationSamples {
			source.Samples = append(source.Samples, s.Reference(x))
		}
	}
	c.Cites, err = s.cites(ctx, r)
	return c, err
}

// cites returns the ids of the other proposals that a record links to, sorted.
func (s service) cites(ctx context.Context, r catalog.Record) ([]string, error) {
	links, err := s.Catalog.LinksFrom(ctx, r.ID)
	var ids []string
	for _, l := range links {
		if l.To.Kind == catalog.KindCIP && l.To != r.Ref() {
			ids = append(ids, s.Network.Proposals.ID(l.To.Key))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), err
}
