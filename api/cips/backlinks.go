package cips

import (
	"context"
	"slices"
	"time"

	"almanac/api/kb"
	"almanac/catalog"
)

// Mentions are the backlinks to a proposal.
type Mentions struct {
	ID        string        `json:"id"`
	Counts    MentionCounts `json:"counts"`
	Forum     []Mention     `json:"forum"`
	Mail      []Mention     `json:"mailing_list"`
	Blog      []Mention     `json:"blog"`
	Proposals []Mention     `json:"proposals"`
	CIPs      []Mention     `json:"cips"`
	Other     []Mention     `json:"other" doc:"documentation, releases and every other kind"`
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

// Mention is one record that refers to the proposal.
type Mention struct {
	ID       any        `json:"id"`
	RecordID int64      `json:"record_id"`
	Kind     string     `json:"kind"`
	Title    string     `json:"title"`
	Relation string     `json:"relation" doc:"requires, supersedes, cites, implements, references or mentions"`
	Snippet  string     `json:"snippet"`
	Date     *time.Time `json:"date"`
	URL      string     `json:"url"`
}

// mentionsShown bounds each list of mentions, citationSamples each sample.
const (
	mentionsShown   = 50
	citationSamples = 5
)

// strength orders relations: of several between two records the strongest is
// shown.
var strength = []catalog.Relation{catalog.Requires, catalog.Supersedes, catalog.Implements, catalog.Cites, catalog.References, catalog.Mentions}

// backlinks returns one mention per record that refers to r, newest first.
func (s service) backlinks(ctx context.Context, r catalog.Record) ([]Mention, []catalog.Kind, error) {
	links, err := s.linksTo(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	best := map[int64]catalog.Link{}
	var ids []int64
	for _, l := range links {
		if l.From == r.ID {
			continue
		}
		old, seen := best[l.From]
		if !seen {
			ids = append(ids, l.From)
		}
		if !seen || slices.Index(strength, l.Relation) < slices.Index(strength, old.Relation) {
			best[l.From] = l
		}
	}
	records, err := s.Catalog.Heads(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	// A proposal's own files are no backlinks.
	records = slices.DeleteFunc(records, func(x catalog.Record) bool { return x.Parent == r.ID })
	slices.SortStableFunc(records, func(a, b catalog.Record) int { return kb.Date(b).Compare(kb.Date(a)) })
	mentions := make([]Mention, len(records))
	kinds := make([]catalog.Kind, len(records))
	for i, x := range records {
		l := best[x.ID]
		mentions[i] = Mention{ID: kb.ID(x), RecordID: x.ID, Kind: string(x.Kind), Title: x.Title, Relation: string(l.Relation),
			Snippet: l.Snippet, Date: kb.Time(kb.Date(x)), URL: s.URL(x)}
		kinds[i] = x.Kind
	}
	return mentions, kinds, nil
}

// linksTo returns the links to a record under any of its names: who mentions
// a draft mentions the proposal it became.
func (s service) linksTo(ctx context.Context, r catalog.Record) ([]catalog.Link, error) {
	aliases, err := s.Catalog.Aliases(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	var all []catalog.Link
	for _, key := range append([]string{r.Key}, aliases...) {
		links, err := s.Catalog.LinksTo(ctx, catalog.Ref{Kind: r.Kind, Key: key})
		if err != nil {
			return nil, err
		}
		all = append(all, links...)
	}
	return all, nil
}

func (s service) mentions(ctx context.Context, in idIn) (Mentions, error) {
	r, err := s.CIPRecord(ctx, in.ID)
	if err != nil {
		return Mentions{}, err
	}
	all, kinds, err := s.backlinks(ctx, r)
	if err != nil {
		return Mentions{}, err
	}
	m := Mentions{ID: kb.CIPID(r.Key)}
	for i, x := range all {
		list, count := &m.Other, &m.Counts.Other
		switch kinds[i] {
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
		*count++
		m.Counts.Total++
		if len(*list) < mentionsShown {
			*list = append(*list, x)
		}
	}
	return m, nil
}

// Citations are the citation graph of a proposal.
type Citations struct {
	ID      string         `json:"id"`
	Total   int            `json:"total"`
	Sources []CitingSource `json:"sources" doc:"sibling proposals, forum posts, mailing messages, forge items, blog posts, videos, then the rest"`
	Cites   []string       `json:"cites" doc:"ids of proposals that this one cites"`
}

// CitingSource is one kind of citing content.
type CitingSource struct {
	Source  string    `json:"source"`
	Count   int       `json:"count"`
	Samples []Mention `json:"samples"`
}

// citing names the sources of citations in the order they are answered in.
var citing = []struct {
	name  string
	kinds []catalog.Kind
}{
	{"cips", []catalog.Kind{catalog.KindCIP, catalog.KindAttachment}},
	{"forum", []catalog.Kind{catalog.KindTopic, catalog.KindPost}},
	{"mail", []catalog.Kind{catalog.KindMailThread, catalog.KindMailMessage}},
	{"forge", []catalog.Kind{catalog.KindIssue, catalog.KindPull, catalog.KindDiscussion, catalog.KindComment, catalog.KindRelease, catalog.KindRepo}},
	{"blog", []catalog.Kind{catalog.KindBlog}},
	{"videos", []catalog.Kind{catalog.KindVideo}},
	{"proposals", []catalog.Kind{catalog.KindProposal}},
	{"docs", nil}, // everything else
}

type citationsIn struct {
	ID string `json:"id" tool:"cip_id" pattern:"^(\\d{1,4}|CIP-\\d{1,4}|cip-\\d{1,4}|PR-\\d+)$" toolpattern:"^\\s*(?i:(cip[-\\s#]?)?\\d{1,4}|pr[-\\s#]?\\d+)\\s*$" required:"true" doc:"CIP-56, 56, 0056, or PR-203 for a draft"`
}

func (s service) citations(ctx context.Context, in citationsIn) (Citations, error) {
	r, err := s.CIPRecord(ctx, in.ID)
	if err != nil {
		return Citations{}, err
	}
	all, kinds, err := s.backlinks(ctx, r)
	if err != nil {
		return Citations{}, err
	}
	c := Citations{ID: kb.CIPID(r.Key), Total: len(all)}
	for _, source := range citing {
		c.Sources = append(c.Sources, CitingSource{Source: source.name})
	}
	for i, x := range all {
		at := len(citing) - 1
		for j, source := range citing {
			if slices.Contains(source.kinds, kinds[i]) {
				at = j
			}
		}
		source := &c.Sources[at]
		source.Count++
		if len(source.Samples) < citationSamples {
			source.Samples = append(source.Samples, x)
		}
	}
	links, err := s.Catalog.LinksFrom(ctx, r.ID)
	if err != nil {
		return Citations{}, err
	}
	for _, l := range links {
		if id := kb.CIPID(l.To.Key); l.To.Kind == catalog.KindCIP && id != c.ID && !slices.Contains(c.Cites, id) {
			c.Cites = append(c.Cites, id)
		}
	}
	slices.Sort(c.Cites)
	return c, nil
}
