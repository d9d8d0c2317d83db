// Package cips holds the operations on improvement proposals: rows, history,
// attachments, backlinks, citations, summaries and the dependency graph. It
// imports kb and op.
package cips

import (
	"context"
	"strings"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

const group = "cips"

type service struct{ kb.Base }

// Operations returns the group's operations.
func Operations(b kb.Base) []op.Operation {
	s := service{b}
	notFound := []error{op.ErrNotFound}
	return []op.Operation{
		op.New(op.Spec{ID: "list_cips", Group: group, Path: "/api/v1/cips", Tool: "list_cips", Title: "List improvement proposals",
			Summary:     "Improvement proposals with status, type and author, by number.",
			Description: "Lists improvement proposals (id, title, status, type, author), numbered ones and open drafts. Read one with get_cip."}, s.list),
		op.New(op.Spec{ID: "list_cip_tldrs", Group: group, Path: "/api/v1/cips/tldrs",
			Summary: "Short summaries of several proposals, in input order, null for misses."}, s.tldrs),
		op.New(op.Spec{ID: "post_cip_tldrs", Group: group, Method: "POST", Path: "/api/v1/cips/tldrs",
			Summary: "Short summaries of several proposals, in input order, null for misses."}, s.tldrs),
		op.New(op.Spec{ID: "batch_cips", Group: group, Method: "POST", Path: "/api/v1/cips/batch",
			Summary: "Several proposals with full text, in input order, null for misses."}, s.batch),
		op.New(op.Spec{ID: "get_cip_graph", Group: group, Path: "/api/v1/cips/graph",
			Summary: "The requires graph: an edge runs from the dependent to its prerequisite."}, s.graph),
		op.New(op.Spec{ID: "get_cip", Group: group, Path: "/api/v1/cips/{id}", Tool: "get_cip", Title: "Read an improvement proposal", MayFail: notFound,
			Summary:     "One proposal with its full text.",
			Description: "Reads one improvement proposal: its header fields and full markdown text, 50,000 characters at a time. Takes CIP-56, 56 or a draft's PR-203."}, s.get),
		op.New(op.Spec{ID: "get_cip_history", Group: group, Path: "/api/v1/cips/{id}/history", Tool: "get_cip_history", Title: "Status history of a proposal", MayFail: notFound,
			Summary:     "Dated status changes of one proposal, newest first.",
			Description: "Lists every dated status change of one improvement proposal, newest first, with the raw words and the commit."}, s.history),
		op.New(op.Spec{ID: "get_cip_attachments", Group: group, Path: "/api/v1/cips/{id}/attachments", Tool: "get_cip_attachments", Title: "Attachments of a proposal", MayFail: notFound,
			Summary:     "Files beside one proposal: documents, figures, signed votes.",
			Description: "Lists the files beside one improvement proposal: supporting documents, figures and signed-vote PDFs, with their addresses."}, s.attachments),
		op.New(op.Spec{ID: "get_cip_tldr", Group: group, Path: "/api/v1/cips/{id}/tldr", MayFail: notFound,
			Summary: "A short summary of one proposal, made from its abstract at ingest."}, s.tldr),
		op.New(op.Spec{ID: "get_cip_mentions", Group: group, Path: "/api/v1/cips/{id}/mentions", Tool: "get_cip_mentions", Title: "Who mentions a proposal", MayFail: notFound,
			Summary:     "Backlinks to one proposal from every kind of content.",
			Description: "Lists what mentions one improvement proposal: forum, mail, blog, grant proposals, sibling proposals and other content, with counts."}, s.mentions),
		op.New(op.Spec{ID: "get_cip_citations", Group: group, Path: "/api/v1/cips/{id}/citations", Tool: "get_cip_citations", Title: "Citations of a proposal", MayFail: notFound,
			Summary:     "Citation graph of one proposal: counts and samples with snippets per source.",
			Description: "Counts what cites one improvement proposal by source and gives samples with the sentence around the citation."}, s.citations),
		op.New(op.Spec{ID: "detect_cip_dependency_chain", Group: group, Tool: "detect_cip_dependency_chain", Title: "Prerequisites of a proposal", MayFail: notFound,
			Summary:     "Every prerequisite of a proposal or draft with its status.",
			Description: "Walks the requires graph from an improvement proposal or a draft (PR-n) and lists every prerequisite that must be Final first, with its current status."}, s.chain),
	}
}

type listIn struct {
	Status string `json:"status" enum:"Draft,Review,Final,Withdrawn,Rejected,Superseded" doc:"only proposals in this status"`
	Type   string `json:"type" doc:"only proposals of this type, such as Governance" maxLength:"100"`
	Limit  int    `json:"limit" default:"20" minimum:"1" maximum:"100" doc:"how many to return"`
	Offset int    `json:"offset" default:"0" minimum:"0" doc:"how many to skip"`
}

func (s service) list(ctx context.Context, in listIn) (kb.List[kb.CIP], error) {
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindCIP}, Order: catalog.ByKey, Limit: in.Limit, Offset: in.Offset}
	if in.Status != "" {
		q.States = []string{in.Status}
	}
	if in.Type != "" {
		q.Categories = []string{in.Type}
	}
	records, total, err := s.Catalog.List(ctx, q)
	if err != nil {
		return kb.List[kb.CIP]{}, err
	}
	rows := make([]kb.CIP, len(records))
	for i, r := range records {
		if rows[i], err = s.CIPRow(r); err != nil {
			return kb.List[kb.CIP]{}, err
		}
	}
	return kb.NewList(rows, total, in.Limit, in.Offset), nil
}

// Full is a proposal with its text.
type Full struct {
	kb.CIP
	kb.Text
	Header map[string]string `json:"header" doc:"every header field, as written"`
	Layer  string            `json:"layer,omitempty"`
}

type getIn struct {
	ID     string `json:"id" pattern:"^(\\d{1,4}|CIP-\\d{1,4}|cip-\\d{1,4}|PR-\\d+)$" toolpattern:"^\\s*(?i:(cip[-\\s#]?)?\\d{1,4}|pr[-\\s#]?\\d+)\\s*$" required:"true" doc:"CIP-56, 56, 0056, or PR-203 for a draft"`
	Cursor string `json:"cursor" doc:"next_cursor of an earlier answer, for long texts" maxLength:"20"`
}

func (s service) get(ctx context.Context, in getIn) (Full, error) {
	r, err := s.CIPRecord(ctx, in.ID)
	if err != nil {
		return Full{}, err
	}
	return s.full(r, in.Cursor)
}

func (s service) full(r catalog.Record, cursor string) (Full, error) {
	row, err := s.CIPRow(r)
	if err != nil {
		return Full{}, err
	}
	text, err := kb.Page(r.Body, cursor)
	if err != nil {
		return Full{}, err
	}
	d, err := kb.Decode[catalog.CIP](r)
	if err != nil {
		return Full{}, err
	}
	if d.Header == nil {
		d.Header = map[string]string{}
	}
	return Full{CIP: row, Text: text, Header: d.Header, Layer: d.Layer}, nil
}

type batchIn struct {
	IDs []string `json:"ids" maxItems:"50" required:"true" doc:"ids such as 56, CIP-0056 or PR-203, at most 50" pattern:"^(\\d{1,4}|CIP-\\d{1,4}|cip-\\d{1,4}|PR-\\d+)$"`
}

// Batch is the answer of a batch lookup.
type Batch[T any] struct {
	Items []*T `json:"items" doc:"in input order; null where nothing has the id"`
}

func (s service) batch(ctx context.Context, in batchIn) (Batch[Full], error) {
	return each(ctx, s, in.IDs, func(r catalog.Record) (Full, error) { return s.full(r, "") })
}

// each looks ids up in order.
func each[T any](ctx context.Context, s service, ids []string, make func(catalog.Record) (T, error)) (Batch[T], error) {
	out := Batch[T]{Items: []*T{}}
	for _, id := range ids {
		r, err := s.CIPRecord(ctx, strings.TrimSpace(id))
		if err != nil {
			if isNotFound(err) {
				out.Items = append(out.Items, nil)
				continue
			}
			return Batch[T]{}, err
		}
		v, err := make(r)
		if err != nil {
			return Batch[T]{}, err
		}
		out.Items = append(out.Items, &v)
	}
	return out, nil
}
