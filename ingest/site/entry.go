package site

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"mime"
	"path"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/markup"
	"almanac/text/webaddress"
	"almanac/text/webpage"
)

var errEmpty = errors.New("the page has no text; perhaps it needs a browser to be read")

// entry makes the record of a page that is no copy of another one, and does not ask
// not to be indexed.
func (s *survey) entry(p page, answer outbound.Response) (catalog.Entry, error) {
	unindexed := slices.ContainsFunc(answer.Header.Values("X-Robots-Tag"), webpage.Unindexed)
	if s.moved(p, answer) {
		return catalog.Entry{}, fmt.Errorf("%w: its address leads to %s", ingest.ErrNoItem, readable(answer.URL))
	}
	page, format, err := content(p, answer)
	switch {
	case unindexed || err == nil && page.Hidden:
		return catalog.Entry{}, fmt.Errorf("%w: it asks search engines to leave it out (noindex)", ingest.ErrNoItem)
	case err != nil:
		return catalog.Entry{}, err
	case s.copyOf(p, page.Canonical) && !front(page.Canonical): // an error of the template
		return catalog.Entry{}, fmt.Errorf("%w: it calls itself a copy of %s", ingest.ErrNoItem, readable(page.Canonical))
	case page.Body == "":
		return catalog.Entry{}, errEmpty
	}
	r := catalog.Record{
		Kind: s.Kind, Key: p.name, Title: cmp.Or(page.Title, p.title, markup.Readable(path.Base(p.address.Path))),
		URL: readable(answer.URL), Container: s.Name, Author: strings.Join(page.Authors, ", "),
		CreatedAt: page.Published, UpdatedAt: page.Modified, Body: page.Body,
		Tags: catalog.Tags(catalog.TagLabel, page.Tags...),
	}
	description := cmp.Or(page.Description, p.note)
	r.Summary = cmp.Or(description, derive.TLDR(page.Body))
	stub := markup.IsStub(page.Body)
	if stub {
		r.Tags = append(r.Tags, catalog.TagStub)
	}
	section := cmp.Or(p.section, markup.Addresses.Section(path.Dir(strings.Trim(p.address.Path, "/"))))
	switch s.Kind {
	case catalog.KindDoc:
		r.Category = section
		r.Data, err = catalog.Encode(catalog.Doc{Format: format, Section: section,
			Version: markup.Addresses.Version(p.address.Path), Description: description, Stub: stub})
	case catalog.KindBlog:
		r.Data, err = catalog.Encode(catalog.Blog{Authors: append([]string{}, page.Authors...), Image: page.Image,
			Language: page.Language})
	default:
		r.Category = section
		r.Data, err = catalog.Encode(catalog.Foundation{Section: section, Facts: []catalog.Fact{}})
	}
	return catalog.Entry{Record: r}, err
}

// copyOf reports whether a page's canonical address is that of another listed
// page.
func (s *survey) copyOf(p page, address string) bool {
	u := webaddress.Canonical(address, nil)
	return u != nil && webaddress.Key(u) != p.name && s.listed[webaddress.Key(u)]
}

// moved reports whether an answer came from another listed page, or from the
// front page of a site, where addresses of removed pages often redirect.
func (s *survey) moved(p page, answer outbound.Response) bool {
	return s.copyOf(p, answer.URL) || front(answer.URL) && webaddress.Path(p.address) != ""
}

// front reports whether an address is that of the front page of a site.
func front(address string) bool {
	u := webaddress.Canonical(address, nil)
	return u != nil && webaddress.Path(u) == ""
}

// content reads a page according to its content type.
func content(p page, answer outbound.Response) (webpage.Page, string, error) {
	contentType := answer.Header.Get("Content-Type")
	kind, _, _ := mime.ParseMediaType(contentType)
	text := kind == "text/markdown" || kind == "text/plain" || kind == "" && markup.Format(p.address.Path) != ""
	if !text || bytes.HasPrefix(bytes.TrimSpace(answer.Body), []byte("<!")) { // HTML served as plain text
		page, err := webpage.Parse(answer.Body, contentType, answer.URL)
		return page, "html", err
	}
	file := strings.TrimPrefix(p.address.Path, "/")
	if markup.Format(file) == "" {
		file += ".md"
	}
	m := markup.Parse(markup.Input{Path: file, Text: webpage.Decode(answer.Body, contentType)})
	page := webpage.Page{Title: m.Title, Description: m.Description, Body: m.Body}
	if p.title != "" && m.Title == markup.Parse(markup.Input{Path: file}).Title {
		page.Title = p.title // the list's title is better than the file name
	}
	return page, m.Format, nil
}

// readable returns the address for people: a page's source next to the page
// (page.html.md) has the page's address.
func readable(address string) string {
	u := webaddress.Canonical(address, nil)
	if u == nil {
		return ""
	}
	if rest, ok := strings.CutSuffix(u.Path, ".html.md"); ok {
		u.Path, u.RawPath = rest+".html", ""
	}
	return u.String()
}
