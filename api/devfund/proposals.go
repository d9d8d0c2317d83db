// Package devfund holds the operations on grant proposals. It imports kb and
// op.
package devfund

import (
	"context"
	"strconv"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

const group = "devfund"

type service struct{ kb.Base }

// Operations returns the group's operations.
func Operations(b kb.Base) []op.Operation {
	s := service{b}
	return []op.Operation{
		op.New(op.Spec{ID: "get_proposals", Group: group, Path: "/api/v1/proposals", Tool: "get_proposals", Title: "List grant proposals",
			Summary:     "Grant proposals by state, newest first.",
			Description: "Lists grant proposals with number, title, state, author and board status, newest first. They are not the improvement proposals of list_cips."}, s.list),
	}
}

// Proposal is the row of a grant proposal.
type Proposal struct {
	ID          int                 `json:"id"`
	Number      int                 `json:"number" doc:"of its pull request"`
	Title       string              `json:"title"`
	State       string              `json:"state" enum:"open,closed"`
	Merged      bool                `json:"merged"`
	Author      string              `json:"author"`
	BoardStatus *string             `json:"board_status" doc:"column of the board; null where it is not known"`
	RawStatus   string              `json:"raw_status,omitempty" doc:"as the proposal's text says"`
	Labels      []string            `json:"labels"`
	Funding     string              `json:"funding,omitempty" doc:"as written"`
	Champion    string              `json:"champion,omitempty"`
	Milestones  []catalog.Milestone `json:"milestones"`
	CIPs        []string            `json:"cips" doc:"ids of the improvement proposals it names"`
	CreatedAt   *time.Time          `json:"created_at"`
	UpdatedAt   *time.Time          `json:"updated_at"`
	RecordID    int64               `json:"record_id" doc:"reads the text with get_doc"`
	URL         string              `json:"url"`
	Page        string              `json:"page"`
	Path        string              `json:"path,omitempty"`
}

type listIn struct {
	State  string `json:"state" enum:"open,closed,all" default:"open" doc:"state of the proposals"`
	Limit  int    `json:"limit" default:"20" minimum:"1" maximum:"100" doc:"how many to return"`
	Offset int    `json:"offset" default:"0" minimum:"0" doc:"how many to skip"`
}

func (s service) list(ctx context.Context, in listIn) (kb.List[Proposal], error) {
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindProposal}, TopLevel: true, Order: catalog.ByCreated, Limit: in.Limit, Offset: in.Offset}
	if in.State != "all" {
		q.States = []string{in.State}
	}
	records, total, err := s.Catalog.List(ctx, q)
	if err != nil {
		return kb.List[Proposal]{}, err
	}
	rows := make([]Proposal, len(records))
	for i, r := range records {
		if rows[i], err = s.row(r); err != nil {
			return kb.List[Proposal]{}, err
		}
	}
	return kb.NewList(rows, total, in.Limit, in.Offset), nil
}

func (s service) row(r catalog.Record) (Proposal, error) {
	d, err := kb.Decode[catalog.Proposal](r)
	if err != nil {
		return Proposal{}, err
	}
	p := Proposal{ID: d.Number, Number: d.Number, Title: r.Title, State: r.State, Merged: d.Merged, Author: r.Author, RawStatus: d.RawStatus, Labels: d.Labels,
		Funding: d.Funding, Champion: d.Champion, Milestones: d.Milestones, CreatedAt: kb.Time(r.CreatedAt), UpdatedAt: kb.Time(r.UpdatedAt),
		RecordID: r.ID, URL: s.URL(r), Page: s.PageURL(r), Path: r.Path}
	if n, err := strconv.Atoi(r.Key); err == nil {
		p.ID, p.Number = n, n
	}
	if d.BoardStatus != "" {
		p.BoardStatus = &d.BoardStatus
	}
	for _, key := range d.Cites {
		p.CIPs = append(p.CIPs, kb.CIPID(key))
	}
	return p, nil
}
