package cips

import (
	"context"

	"almanac/api/kb"
	"almanac/catalog"
)

// TLDR is the short summary of a proposal.
type TLDR struct {
	ID          string  `json:"id"`
	Title       string  `json:"title"`
	TLDR        *string `json:"tldr" doc:"null when there is nothing to summarise"`
	Cached      bool    `json:"cached" doc:"always true: summaries are made at ingest"`
	GeneratedAt *string `json:"generated_at" format:"date-time"`
	URL         string  `json:"url" format:"uri"`
	Status      string  `json:"status"`
}

type idIn struct {
	ID string `json:"id" pattern:"^(\\d{1,4}|CIP-\\d{1,4}|cip-\\d{1,4}|PR-\\d+)$" toolpattern:"^\\s*(?i:(cip[-\\s#]?)?\\d{1,4}|pr[-\\s#]?\\d+)\\s*$" required:"true" doc:"CIP-56, 56, 0056, or PR-203 for a draft"`
}

func (s service) tldr(ctx context.Context, in idIn) (TLDR, error) {
	r, err := s.CIPRecord(ctx, in.ID)
	if err != nil {
		return TLDR{}, err
	}
	return s.tldrOf(r)
}

func (s service) tldrs(ctx context.Context, in batchIn) (Batch[TLDR], error) {
	return each(ctx, s, in.IDs, s.tldrOf)
}

func (s service) tldrOf(r catalog.Record) (TLDR, error) {
	d, err := kb.Decode[catalog.CIP](r)
	if err != nil {
		return TLDR{}, err
	}
	t := TLDR{ID: kb.CIPID(r.Key), Title: r.Title, Cached: true, URL: s.URL(r), Status: r.State}
	if r.Summary != "" {
		t.TLDR = &r.Summary
		if d.TLDRAt != "" {
			t.GeneratedAt = &d.TLDRAt
		}
	}
	return t, nil
}
