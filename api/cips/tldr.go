package cips

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/catalog"
)

// CipTldr is the short summary of a proposal, under the name that the API's
// description gives it.
type CipTldr struct {
	ID          string     `json:"id"`
	Title       string     `json:"title"`
	TLDR        *string    `json:"tldr" doc:"null when there is nothing to summarise"`
	Cached      bool       `json:"cached" doc:"whether there is a summary: all are made at ingest, none on request"`
	GeneratedAt *time.Time `json:"generated_at"`
	URL         string     `json:"url" format:"uri"`
	Status      string     `json:"status"`
}

type idIn struct {
	ID string `json:"id" pattern:"^(\\d{1,4}|CIP-\\d{1,4}|cip-\\d{1,4}|PR-\\d+)$" toolpattern:"^\\s*(?i:(cip[-\\s#]?)?\\d{1,4}|pr[-\\s#]?\\d+)\\s*$" required:"true" doc:"CIP-56, 56, 0056, or PR-203 for a draft"`
}

func (s service) tldr(ctx context.Context, in idIn) (CipTldr, error) {
	r, err := s.CIPRecord(ctx, in.ID)
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
	if err != nil {
		return CipTldr{}, err
	}
	t := CipTldr{ID: kb.CIPID(r.Key), Title: r.Title, URL: s.URL(r), Status: r.State}
	if r.Summary == "" {
		return t, nil
	}
	t.TLDR, t.Cached = &r.Summary, true
	if at, err := time.Parse(time.RFC3339, d.TLDRAt); err == nil {
		t.GeneratedAt = kb.Time(at)
	}
	return t, nil
}
