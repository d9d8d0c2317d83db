package cips

import (
	"context"
	"slices"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/network"
)

var listSpec = op.Spec{
	ID: "list_cips", Path: "/api/v1/cips", Tool: "list_cips", Title: "List improvement proposals",
	Summary: "Improvement proposals with status, type and author, by number.",
	Description: "Lists improvement proposals (id, title, status, type, author), numbered ones and open drafts. " +
		"Read one with get_cip.",
	Example: listIn{Status: "Final", Paging: kb.Paging{Limit: 5}},
}

type listIn struct {
	Status kb.StatusFilter `json:"status"`
	Type   string          `json:"type" doc:"only proposals of this type, such as Governance" maxLength:"100"`
	kb.Paging
}

func (s service) list(ctx context.Context, in listIn) (kb.List[kb.CIP], error) {
	q := catalog.ListQuery{Kinds: kinds, Order: catalog.ByKey}
	switch status := string(in.Status); {
	case status == "":
	case slices.Contains(network.Statuses, status):
		q.States = []string{status}
	default: // a word of the network's own
		q.AllTags = append(q.AllTags, catalog.Tag(catalog.TagStatus, status))
	}
	if in.Type != "" {
		q.AllTags = append(q.AllTags, catalog.Tag(catalog.TagType, in.Type))
	}
	return kb.Rows(ctx, s.Base, q, in.Paging, s.CIPRow)
}
