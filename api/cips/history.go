package cips

import (
	"context"
	"errors"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// History is the status history of a proposal, newest first.
type History struct {
	ID     string   `json:"id"`
	Label  string   `json:"label"`
	Title  string   `json:"title"`
	Status string   `json:"status" doc:"current status"`
	Items  []Change `json:"items"`
	Total  int      `json:"total"`
	URL    string   `json:"url,omitempty"`
}

// Change is one dated change of status.
type Change struct {
	At      time.Time `json:"at"`
	From    *string   `json:"from" doc:"null for the first"`
	To      string    `json:"to"`
	RawFrom string    `json:"raw_from" doc:"as the source spelt it"`
	RawTo   string    `json:"raw_to"`
	Via     string    `json:"via" enum:"header,index" doc:"header of the proposal, or the repository's index table"`
	Commit  string    `json:"commit,omitempty"`
	Subject string    `json:"subject,omitempty" doc:"of the commit"`
	URL     string    `json:"url,omitempty"`
}

func (s service) history(ctx context.Context, in idIn) (History, error) {
	ref, err := s.CIPRef(in.ID)
	if err != nil {
		return History{}, err
	}
	h := History{ID: kb.CIPID(ref.Key), Label: ref.Key}
	r, err := s.CIPRecord(ctx, in.ID)
	switch {
	case err == nil:
		ref = r.Ref() // a merged draft answers as the proposal it became
		h.ID, h.Label, h.Title, h.Status, h.URL = kb.CIPID(r.Key), r.Key, r.Title, r.State, s.URL(r)
	case !isNotFound(err):
		return History{}, err
	}
	events, eventsErr := s.Catalog.Events(ctx, catalog.EventQuery{Ref: ref, Field: "status"})
	if eventsErr != nil {
		return History{}, eventsErr
	}
	if err != nil { // a proposal without a file: its events are all there is
		if len(events) == 0 {
			return History{}, err
		}
		h.Status, h.URL = events[0].To, events[0].URL
	}
	for _, e := range events {
		c := Change{At: e.At.UTC(), To: e.To, RawFrom: e.RawFrom, RawTo: e.RawTo, Via: e.Via, Commit: e.Commit, Subject: e.Subject, URL: e.URL}
		if e.From != "" {
			c.From = &e.From
		}
		h.Items = append(h.Items, c)
	}
	h.Total = len(h.Items)
	return h, nil
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
	r, err := s.CIPRecord(ctx, in.ID)
	if err != nil {
		return Attachments{}, err
	}
	children, total, err := s.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindAttachment}, Parent: r.ID, Order: catalog.ByTitle})
	if err != nil {
		return Attachments{}, err
	}
	out := Attachments{ID: kb.CIPID(r.Key), Total: total}
	for _, c := range children {
		d, err := kb.Decode[catalog.Attachment](c)
		if err != nil {
			return Attachments{}, err
		}
		out.Items = append(out.Items, Attachment{RecordID: c.ID, Filename: d.Filename, URL: s.URL(c), MediaType: d.MediaType, Role: d.Role,
			Bytes: d.Bytes, Pages: d.Pages, TextLayer: d.TextLayer, Path: c.Path})
	}
	return out, nil
}

func isNotFound(err error) bool { return errors.Is(err, op.ErrNotFound) }
