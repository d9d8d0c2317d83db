package cips

import (
	"context"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

var attachmentsSpec = op.Spec{
	ID: "get_cip_attachments", Path: "/api/v1/cips/{id}/attachments", Tool: "get_cip_attachments",
	Title: "Attachments of a proposal", MayFail: notFound,
	Summary: "Files beside one proposal: documents, figures, signed votes.",
	Description: "Lists the files beside one improvement proposal: supporting documents, figures and signed-vote PDFs, " +
		"with their addresses.",
}

// Attachments are the files beside a proposal.
type Attachments struct {
	ID    string       `json:"id"`
	Items []Attachment `json:"items"`
	Total int          `json:"total"`
}

// Attachment is one of them.
type Attachment struct {
	RecordID  int64  `json:"record_id" doc:"reads the text with get_doc"`
	Filename  string `json:"filename"`
	URL       string `json:"url"`
	MediaType string `json:"media_type"`
	Role      string `json:"role" doc:"proposal, vote_record, figure or other"`
	Bytes     int64  `json:"bytes"`
	Pages     int    `json:"pages,omitempty"`
	TextLayer bool   `json:"text_layer" doc:"whether its text could be read; scanned files have none"`
	Path      string `json:"path,omitempty"`
}

func (s service) attachments(ctx context.Context, in idIn) (Attachments, error) {
	r, err := s.CIPHead(ctx, in.ID)
	if err != nil {
		return Attachments{}, err
	}
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindAttachment}, Parent: r.ID, Order: catalog.ByTitle}
	all, err := kb.Rows(ctx, s.Base, q, kb.Paging{}, func(c catalog.Record) (Attachment, error) {
		d, err := kb.Decode[catalog.Attachment](c)
		return Attachment{
			RecordID: c.ID, Filename: d.Filename, URL: s.URL(c), MediaType: d.MediaType, Role: d.Role,
			Bytes: d.Bytes, Pages: d.Pages, TextLayer: d.TextLayer, Path: c.Path,
		}, err
	})
	return Attachments{s.ID(r), all.Items, all.Total}, err
}
