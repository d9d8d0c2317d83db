package snapshot

import (
	"cmp"
	"errors"
	"path"
	"strings"
	"unicode"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/ingest"
	"almanac/text/markup"
)

// page reads a manifest row as a page, with its includes from the snapshot.
func (r *run) page(row row) (markup.Page, error) {
	text, err := r.item(row.Path, ingest.MaxText)
	if err != nil {
		return markup.Page{}, err
	}
	return markup.Parse(markup.Input{Path: row.Path, Text: text, Resolve: r.include}), nil
}

// include opens an included file. A damaged one is reported and skipped, like a
// missing one.
func (r *run) include(name string) (string, bool) {
	if _, ok := r.at[name]; !ok {
		return "", false
	}
	text, err := r.text(name)
	if err != nil {
		r.out.Warn(name, "cannot be included: "+err.Error())
	}
	return text, err == nil
}

// record returns the fields that all kinds of pages share.
func (r *run) record(kind catalog.Kind, key string, row row, p markup.Page) catalog.Record {
	return catalog.Record{
		Kind: kind, Key: key, Title: p.Title, URL: r.options.fileURL(row), Path: row.Path, Container: row.Repo,
		Body: p.Body, Summary: cmp.Or(p.Description, derive.TLDR(p.Body)),
	}
}

// stub returns the tags of a record that may be a stub.
func stub(is bool) []string {
	if !is {
		return nil
	}
	return []string{catalog.TagStub}
}

// doc reads a documentation page. A file that is not a page (such as
// configuration) yields nothing.
func (r *run) doc(row row) []item {
	if markup.Format(row.Path) == "" {
		return nil
	}
	p, err := r.page(row)
	if err != nil {
		return failed(catalog.KindDoc, row.Path, err)
	}
	rec := r.record(catalog.KindDoc, row.Path, row, p)
	rec.Category = markup.Files.Section(path.Dir(row.SourcePath))
	rec.Tags = stub(p.Stub)
	return []item{made(rec.With(catalog.Doc{
		Format: p.Format, Section: rec.Category, Description: p.Description,
		Version: cmp.Or(markup.Files.Version(path.Dir(row.SourcePath)), markup.Files.Version(path.Dir(row.Path))),
		Commit:  row.Commit, Licence: row.Licence, Includes: p.Includes, Stub: p.Stub,
	}))}
}

var errNoRepository = errors.New("the manifest does not say whose readme it is: source_repo is missing")

// repo reads a repository's readme.
func (r *run) repo(row row) []item {
	if row.Repo == "" {
		return failed(catalog.KindRepo, "", errNoRepository)
	}
	p, err := r.page(row)
	if err != nil {
		return failed(catalog.KindRepo, row.Repo, err)
	}
	rec := r.record(catalog.KindRepo, row.Repo, row, p)
	rec.Title = repoTitle(row.Repo, p.Headings)
	rec.Tags = stub(p.Stub)
	return []item{made(rec.With(catalog.Repo{FullName: row.Repo, Description: rec.Summary, Commit: row.Commit,
		Licence: row.Licence}))}
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
