package docs

import (
	"cmp"
	"errors"
	"path"
	"strings"
	"unicode"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/ingest/endpoint"
	"almanac/text/markup"
)

// Text is the text of a file and what its source knows of the file. Its records are
// the same whether a repository, a folder or a manifest has it.
type Text struct {
	endpoint.File // the key of a page is its Path
	Content       string
	Section       string // of the documentation
	Version       string // of the documented product
	// Resolve returns the text of another file, by its path.
	Resolve func(path string) (string, bool)
}

// page returns the text as readers see it.
func (t Text) page() markup.Page {
	return markup.Parse(markup.Input{Path: t.Path, Text: t.Content, Resolve: t.Resolve})
}

// record returns the fields that all kinds of pages share.
func (t Text) record(kind catalog.Kind, key string, p markup.Page) catalog.Record {
	return catalog.Record{
		Kind: kind, Key: key, Title: p.Title, URL: t.URL, Path: t.Path, Container: t.Container, CreatedAt: t.Created,
		UpdatedAt: t.Updated, Body: p.Body, Summary: cmp.Or(p.Description, derive.TLDR(p.Body)), Tags: stub(p.Stub),
	}
}

// stub returns the tags of a record that may be a stub.
func stub(is bool) []string {
	if !is {
		return nil
	}
	return []string{catalog.TagStub}
}

// Doc makes the record of a page of documentation.
func (t Text) Doc() (catalog.Entry, error) { return t.doc(t.page()) }

func (t Text) doc(p markup.Page) (catalog.Entry, error) {
	rec := t.record(catalog.KindDoc, t.Path, p)
	rec.Category = t.Section
	if t.Other {
		rec.Tags = append(rec.Tags, catalog.TagOtherVersion)
	}
	e, err := rec.With(catalog.Doc{
		Format: p.Format, Section: t.Section, Version: t.Version, Description: p.Description, Commit: t.Commit,
		Licence: t.Licence, Includes: p.Includes, Stub: p.Stub,
	})
	e.Aliases = t.Former
	return e, err
}

// Endpoints makes a record of each operation of a description of an API, and passes
// its oddities to warn. The error is endpoint.ErrOther if the text is none.
func (t Text) Endpoints(warn func(locator, message string)) ([]catalog.Entry, error) {
	api, err := endpoint.Read(endpoint.Input{Path: t.Path, Text: t.Content, Resolve: t.Resolve})
	if err != nil {
		return nil, err
	}
	for _, note := range api.Notes {
		warn(t.Path, note)
	}
	return api.Entries(t.File)
}

var errNoRepository = errors.New("the manifest does not say whose readme it is: source_repo is missing")

// Readme makes the record of the repository that the text is the readme of.
func (t Text) Readme() (catalog.Entry, error) {
	if t.Container == "" {
		return catalog.Entry{}, errNoRepository
	}
	p := t.page()
	rec := t.record(catalog.KindRepo, t.Container, p)
	rec.Title = repoTitle(t.Container, p.Headings)
	return rec.With(catalog.Repo{FullName: t.Container, Description: rec.Summary, Commit: t.Commit, Licence: t.Licence})
}

// repoTitle returns the title of a repository from a level-1 heading at the
// start of its readme: alone if it contains the repository's name, else after
// that name. Without such a heading it is the full name.
func repoTitle(repo string, headings []markup.Heading) string {
	if len(headings) == 0 || headings[0].Level != 1 {
		return repo
	}
	title := headings[0].Text
	fold := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	switch name := path.Base(repo); {
	case strings.Contains(fold(repo), fold(title)):
		return repo
	case strings.Contains(fold(title), fold(name)):
		return title
	default:
		return name + ": " + title
	}
}
