// Package library holds the operations on documents: documentation pages
// and, by record id, the full text of anything. It imports kb and op.
package library

import (
	"context"
	"strconv"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

const group = "library"

type service struct{ kb.Base }

// Operations returns the group's operations.
func Operations(b kb.Base) []op.Operation {
	s := service{b}
	return []op.Operation{
		op.New(op.Spec{ID: "list_docs", Group: group, Path: "/api/v1/docs", Summary: "Documentation pages, by path."}, s.list),
		op.New(op.Spec{ID: "get_doc_page", Group: group, Path: "/api/v1/docs/{id...}", MayFail: []error{op.ErrNotFound},
			Summary: "One documentation page with its full text, by record id or path."}, s.page),
		op.New(op.Spec{ID: "get_doc", Group: group, Tool: "get_doc", Title: "Read a full text", MayFail: []error{op.ErrNotFound},
			Summary:     "The full text of one record.",
			Description: "Reads the full text of any search result by its numeric record id, 50,000 characters at a time."}, s.get),
	}
}

// Row is a documentation page in a list.
type Row struct {
	ID          int64      `json:"id"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Source      string     `json:"source"`
	Container   string     `json:"container" doc:"repository"`
	Section     string     `json:"section,omitempty"`
	Version     string     `json:"version,omitempty"`
	UpdatedAt   *time.Time `json:"updated_at"`
	URL         string     `json:"url"`
	Page        string     `json:"page"`
	Path        string     `json:"path,omitempty"`
}

type listIn struct {
	Source string `json:"source" doc:"only this source or repository" maxLength:"200"`
	Limit  int    `json:"limit" default:"20" minimum:"1" maximum:"100" doc:"how many to return"`
	Offset int    `json:"offset" default:"0" minimum:"0" doc:"how many to skip"`
}

func (s service) list(ctx context.Context, in listIn) (kb.List[Row], error) {
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDoc}, Order: catalog.ByKey, Limit: in.Limit, Offset: in.Offset}
	if in.Source != "" {
		q.Sources = []string{in.Source}
	}
	records, total, err := s.Catalog.List(ctx, q)
	if err == nil && in.Source != "" && total == 0 { // not a source's name: a repository's
		q.Sources, q.Containers = nil, []string{in.Source}
		records, total, err = s.Catalog.List(ctx, q)
	}
	if err != nil {
		return kb.List[Row]{}, err
	}
	rows := make([]Row, len(records))
	for i, r := range records {
		if rows[i], err = s.row(r); err != nil {
			return kb.List[Row]{}, err
		}
	}
	return kb.NewList(rows, total, in.Limit, in.Offset), nil
}

func (s service) row(r catalog.Record) (Row, error) {
	d, err := kb.Decode[catalog.Doc](r)
	return Row{ID: r.ID, Title: r.Title, Description: d.Description, Source: r.Source, Container: r.Container, Section: d.Section, Version: d.Version,
		UpdatedAt: kb.Time(r.UpdatedAt), URL: s.URL(r), Page: s.PageURL(r), Path: r.Path}, err
}

// Full is a record with its text.
type Full struct {
	ID        int64      `json:"id"`
	Kind      string     `json:"kind"`
	Type      string     `json:"type"`
	Key       string     `json:"key"`
	Title     string     `json:"title"`
	Source    string     `json:"source"`
	Container string     `json:"container,omitempty"`
	State     string     `json:"state,omitempty"`
	Author    string     `json:"author,omitempty"`
	CreatedAt *time.Time `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"`
	URL       string     `json:"url"`
	Page      string     `json:"page"`
	Path      string     `json:"path,omitempty"`
	Summary   string     `json:"summary,omitempty" doc:"short description, where there is one"`
	kb.Text
}

func (s service) full(r catalog.Record, cursor string) (Full, error) {
	body := r.Body
	if body == "" {
		body = r.Summary // all the text that some kinds have
	}
	text, err := kb.Page(body, cursor)
	return Full{ID: r.ID, Kind: string(r.Kind), Type: kb.TypeOf(r.Kind), Key: r.Key, Title: r.Title, Source: r.Source, Container: r.Container,
		State: r.State, Author: r.Author, CreatedAt: kb.Time(r.CreatedAt), UpdatedAt: kb.Time(r.UpdatedAt), URL: s.URL(r), Page: s.PageURL(r),
		Path: r.Path, Summary: r.Summary, Text: text}, err
}

type pageIn struct {
	ID     string `json:"id" required:"true" doc:"record id, or the page's path" maxLength:"1000"`
	Cursor string `json:"cursor" doc:"next_cursor of an earlier answer, for long texts" maxLength:"20"`
}

// page answers for any record by its id, as the page of every item but
// improvement proposals is here, and for a path.
func (s service) page(ctx context.Context, in pageIn) (Full, error) {
	if id, err := strconv.ParseInt(in.ID, 10, 64); err == nil {
		return s.get(ctx, getIn{ID: id, Cursor: in.Cursor})
	}
	records, err := s.Catalog.ByPath(ctx, in.ID)
	if err != nil {
		return Full{}, err
	}
	if len(records) == 0 {
		return Full{}, op.NotFound("there is no document %q: use a record id, or a path as lists and search results give it", in.ID)
	}
	return s.full(records[0], in.Cursor)
}

type getIn struct {
	ID     int64  `json:"id" required:"true" doc:"record id of a search result" minimum:"0"`
	Cursor string `json:"cursor" doc:"next_cursor of an earlier answer, for long texts" maxLength:"20"`
}

func (s service) get(ctx context.Context, in getIn) (Full, error) {
	r, err := s.Catalog.ByID(ctx, in.ID)
	if err != nil {
		return Full{}, kb.NotFound(err, "there is no record %d: ids are the record_id of search results", in.ID)
	}
	return s.full(r, in.Cursor)
}
