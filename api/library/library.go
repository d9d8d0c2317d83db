// Package library holds the operations on documents: documentation pages,
// papers, talks and mail, and the full text of any record.
package library

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/kb/read"
	"almanac/api/op"
	"almanac/catalog"
)

// Operations are those of the group, in the order clients see them.
var Operations = []kb.Op{
	list, get, papers, getPaper, videos, getVideo, mailThreads, getMailThread, foundation, endpoints, records, record,
}

var notFound = []error{op.ErrNotFound}

var list = kb.New(op.Spec{
	ID: "list_docs", Path: "/api/v1/docs",
	Example: listIn{Paging: arg.Paging{Limit: 5}},
	Doc:     "Documentation pages, by path.",
}, runList)

type listIn struct {
	Source string `json:"source" doc:"only this source or repository" maxLength:"200"`
	arg.Paging
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

func runList(ctx context.Context, b kb.Base, in listIn) (kb.List[Page], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindDoc}, Order: catalog.ByKey, Sources: arg.Only(in.Source, ""),
	}
	list, err := kb.Rows(ctx, b, q, in.Paging, page)
	if err == nil && in.Source != "" && list.Total == 0 { // not a source's name: a repository's
		q.Sources, q.Containers = nil, []string{in.Source}
		return kb.Rows(ctx, b, q, in.Paging, page)
	}
	return list, err
}

func page(b kb.Base, r catalog.Record) (Page, error) {
	d, err := kb.Decode[catalog.Doc](r)
	return Page{r.ID, b.Item(r), d.Description, r.Source, d.Section, d.Version, kb.Time(r.UpdatedAt)}, err
}

var get = kb.New(op.Spec{
	ID: "get_doc", Path: "/api/v1/docs/{id...}", Tool: "get_doc", MayFail: notFound,
	Forms: []op.Form{read.Markdown(func(f Full) (title, url, text string) { return f.Title, f.URL, f.Content })},
	Doc: `
Read a text or a section of it
The full text of one record, or a section of it, by the read of a search result, an id or a path.

Reads the section that a search result's read names, with what reads the sections before and after it. By the id
alone it reads the whole text behind its outline, up to 50,000 characters at a time.
`,
}, runGet)

type getIn struct {
	ID     arg.RecordID `json:"id" required:"true"`
	Cursor arg.Cursor   `json:"cursor"`
}

// Full is a record with its text.
type Full struct {
	ID int64 `json:"id"`
	kb.Item
	Type      string     `json:"type"`
	Source    string     `json:"source"`
	CreatedAt *time.Time `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"`
	Summary   string     `json:"summary,omitempty" doc:"short description, if there is one"`
	read.Part
}

// Lean implements op.Leaner: a client that reads a section knows the record from the
// search.
func (f *Full) Lean() {
	f.Item.Lean()
	if f.Section != "" {
		f.Summary, f.Container, f.Author, f.Key, f.Path = "", "", "", "", ""
	}
}

func runGet(ctx context.Context, b kb.Base, in getIn) (Full, error) {
	r, section, err := read.Section(ctx, b, in.ID)
	if err != nil {
		return Full{}, err
	}
	part, err := read.PartOf(ctx, b, r, section, in.Cursor)
	return Full{
		ID: r.ID, Item: b.Item(r), Type: arg.TypeOf(r.Kind), Source: r.Source, CreatedAt: kb.Time(r.CreatedAt),
		UpdatedAt: kb.Time(r.UpdatedAt), Summary: r.Summary, Part: part,
	}, err
}

type foundationIn struct {
	Topic string `json:"topic" required:"true" maxLength:"1000" doc:"what to know of the foundation"`
	Limit int    `json:"limit" default:"5" minimum:"1" maximum:"20" doc:"how many to return"`
}

// FoundationInfo are the found pages of the foundation's website.
type FoundationInfo struct {
	Topic string `json:"topic"`
	find.Found[FoundationPage]
}

// FoundationPage is one of them.
type FoundationPage struct {
	kb.Item
	Section string `json:"section,omitempty"`
	find.Why
}

var foundation = kb.New(op.Spec{
	ID: "get_foundation_info", Tool: "get_foundation_info", MayFail: []error{op.ErrUnavailable},
	Kinds: []catalog.Kind{catalog.KindFoundation},
	Doc: `
Ask about the foundation
Pages of the foundation's website on a topic, with the passage that matched.

Searches the website of the network's foundation by words and meaning and returns the passages that matched. For
developer questions use get_faq, for everything search.
`,
}, func(ctx context.Context, b kb.Base, in foundationIn) (FoundationInfo, error) {
	found, err := find.Rows(ctx, b, find.Search{
		Field: "topic", Query: in.Topic, Kinds: []catalog.Kind{catalog.KindFoundation}, Limit: in.Limit,
	}, func(b kb.Base, m find.Match) (FoundationPage, error) {
		d, err := kb.Decode[catalog.Foundation](m.Record)
		return FoundationPage{b.Item(m.Record), d.Section, m.Why()}, err
	})
	return FoundationInfo{in.Topic, found}, err
})
