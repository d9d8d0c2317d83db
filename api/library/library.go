// Package library holds the operations on documents: documentation pages
// and the full text of any record.
package library

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

type service struct{ kb.Base }

// Operations returns the group's operations.
func Operations(b kb.Base) []op.Operation {
	s := service{b}
	return []op.Operation{kb.New(b, listSpec, s.list), kb.New(b, getSpec, s.get)}
}

var listSpec = op.Spec{
	ID: "list_docs", Path: "/api/v1/docs",
	Summary: "Documentation pages, by path.",
	Example: listIn{Paging: kb.Paging{Limit: 5}},
}

type listIn struct {
	Source string `json:"source" doc:"only this source or repository" maxLength:"200"`
	kb.Paging
}

// Page is a documentation page in a list.
type Page struct {
	ID int64 `json:"id"`
	kb.Item
	Description string     `json:"description"`
	Source      string     `json:"source"`
	Section     string     `json:"section,omitempty"`
	Version     string     `json:"version,omitempty"`
	UpdatedAt   *time.Time `json:"updated_at"`
}

func (s service) list(ctx context.Context, in listIn) (kb.List[Page], error) {
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDoc}, Order: catalog.ByKey}
	if in.Source != "" {
		q.Sources = []string{in.Source}
	}
	list, err := kb.Rows(ctx, s.Base, q, in.Paging, s.page)
	if err == nil && in.Source != "" && list.Total == 0 { // not a source's name: a repository's
		q.Sources, q.Containers = nil, []string{in.Source}
		return kb.Rows(ctx, s.Base, q, in.Paging, s.page)
	}
	return list, err
}

func (s service) page(r catalog.Record) (Page, error) {
	d, err := kb.Decode[catalog.Doc](r)
	return Page{r.ID, s.Item(r), d.Description, r.Source, d.Section, d.Version, kb.Time(r.UpdatedAt)}, err
}

var getSpec = op.Spec{
	ID: "get_doc", Path: "/api/v1/docs/{id...}", Tool: "get_doc", Title: "Read a full text", MayFail: []error{op.ErrNotFound},
	Summary:     "The full text of one record, by the id of a list or a search result, or by its path.",
	Description: "Reads the full text of any search result by its id, 50,000 characters at a time.",
	Forms:       []op.Form{kb.MarkdownForm[Full]()},
}

type getIn struct {
	ID     kb.RecordID `json:"id" required:"true"`
	Cursor kb.Cursor   `json:"cursor"`
}

// Full is a record with its text.
type Full struct {
	ID int64 `json:"id"`
	kb.Item
	Type      string     `json:"type"`
	Source    string     `json:"source"`
	CreatedAt *time.Time `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"`
	Summary   string     `json:"summary,omitempty" doc:"short description, where there is one"`
	kb.Text
}

// Markdown implements kb.Markdowner.
func (f Full) Markdown() kb.Markdown { return kb.Markdown{Title: f.Title, URL: f.URL, Text: f.Content} }

func (s service) get(ctx context.Context, in getIn) (Full, error) {
	r, err := s.Record(ctx, in.ID)
	if err != nil {
		return Full{}, err
	}
	text, err := kb.Read(r, in.Cursor)
	return Full{
		ID: r.ID, Item: s.Item(r), Type: kb.TypeOf(r.Kind), Source: r.Source, CreatedAt: kb.Time(r.CreatedAt),
		UpdatedAt: kb.Time(r.UpdatedAt), Summary: r.Summary, Text: text,
	}, err
}
