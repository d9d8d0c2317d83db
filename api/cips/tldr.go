package cips

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

var tldrSpec = op.Spec{
	ID: "get_cip_tldr", Path: "/api/v1/cips/{id}/tldr", MayFail: notFound,
	Summary: "A short summary of one proposal, made from its abstract at ingest.",
}

var tldrsSpec = op.Spec{
	ID: "list_cip_tldrs", Path: "/api/v1/cips/tldrs", Post: true,
	Summary: "Short summaries of several proposals, in input order, null for misses.",
}

// CipTldr is the short summary of a proposal, under its published name.
type CipTldr struct {
	ID          string     `json:"id"`
	Title       string     `json:"title"`
	TLDR        *string    `json:"tldr" doc:"null when there is nothing to summarise"`
	Cached      bool       `json:"cached" doc:"whether there is a summary: all are made at ingest, none on request"`
	GeneratedAt *time.Time `json:"generated_at"`
	URL         string     `json:"url" format:"uri"`
	Status      string     `json:"status"`
}

func (s service) tldr(ctx context.Context, in idIn) (CipTldr, error) {
	r, err := s.CIPHead(ctx, in.ID)
	if err != nil {
		return CipTldr{}, err
	}
	return s.tldrOf(r)
}

func (s service) tldrs(ctx context.Context, in batchIn) (Batch[CipTldr], error) {
	return each(ctx, s, in.IDs, s.tldrOf)
}

func (s service) tldrOf(r catalog.Record) (CipTldr, error) {
	d, err := kb.Decode[catalog.CIP](r)
	t := CipTldr{ID: s.ID(r), Title: r.Title, URL: s.URL(r), Status: r.State}
	if r.Summary == "" {
		return t, err
	}
	t.TLDR, t.Cached = &r.Summary, true
	if at, err := time.Parse(time.RFC3339, d.TLDRAt); err == nil {
		t.GeneratedAt = kb.Time(at)
	}
	return t, err
}
