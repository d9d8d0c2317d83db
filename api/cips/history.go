package cips

import (
	"context"
	"time"

	"almanac/api/op"
	"almanac/catalog"
)

var historySpec = op.Spec{
	ID: "get_cip_history", Path: "/api/v1/cips/{id}/history", Tool: "get_cip_history",
	Title: "Status history of a proposal", MayFail: notFound,
	Summary: "Dated status changes of one proposal, newest first.",
	Description: "Lists every dated status change of one improvement proposal, newest first, " +
		"with the raw words and the commit.",
}

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
	r, missing := s.CIPHead(ctx, in.ID)
	if missing != nil && !isNotFound(missing) {
		return History{}, missing
	}
	if missing == nil {
		ref = r.Ref() // a merged draft answers as the proposal it became
	}
	events, err := s.Catalog.Events(ctx, catalog.EventQuery{Ref: ref, Field: "status"})
	if err != nil {
		return History{}, err
	}
	h := History{ID: s.Network.Proposals.ID(ref.Key), Label: ref.Key, Title: r.Title, Status: r.State, Total: len(events)}
	switch {
	case missing == nil:
		h.URL = s.URL(r)
	case len(events) == 0:
		return History{}, missing
	default: // a proposal without a file: its events are all that is known
		h.Status, h.URL = events[0].To, events[0].URL
	}
	for _, e := range events {
		h.Items = append(h.Items, change(e))
	}
	return h, nil
}

func change(e catalog.Event) Change {
	c := Change{
		At: e.At.UTC(), To: e.To, RawFrom: e.RawFrom, RawTo: e.RawTo,
		Via: e.Via, Commit: e.Commit, Subject: e.Subject, URL: e.URL,
	}
	if e.From != "" {
		c.From = &e.From
	}
	return c
}
