package feed

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mmcdole/gofeed"
	"github.com/mmcdole/gofeed/atom"
	jsonfeed "github.com/mmcdole/gofeed/json"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/text/markup"
	"almanac/text/webpage"
)

// ErrNoFeed: the bytes are not a complete feed in a known format.
var ErrNoFeed = errors.New("not a feed")

// parsed is one page of a feed.
type parsed struct {
	posts  []post
	next   string // address of the next page; "" for none
	unread int    // items that are left out
}

// post is a post in a feed. Its record is made from the exported fields and its
// page.
type post struct {
	name    string   // key of its record
	address *url.URL // of its page; nil if it has none
	shared  bool     // the page is that of other posts too: what it says is not the post's

	GUID, Title, Language, Image string
	Content, Description         string // Markdown
	Authors, Tags                []string
	Published, Updated           time.Time
}

const maxPosts = 10_000 // of a page of a feed; with these no further page is read

// parse reads a feed from an address. Items without address or id are skipped.
func parse(data []byte, contentType, from string) (parsed, error) {
	f, unread, err := Decode(data, contentType)
	if err != nil {
		return parsed{}, err
	}
	base, err := url.Parse(from)
	if err != nil {
		return parsed{}, fmt.Errorf("%w: its address is not valid", ErrNoFeed)
	}
	out := parsed{unread: unread}
	if next := strings.TrimSpace(nextPage(f)); next != "" {
		if u := webpage.Address(next, base); u != nil {
			out.next = u.String()
		}
	}
	for _, item := range f.Items {
		if p, ok := read(item, f, base); ok && len(out.posts) < maxPosts {
			out.posts = append(out.posts, p)
		}
	}
	return out, nil
}

const maxBefore = 4 << 10 // bytes before a feed

// Decode reads a feed of any format and encoding. Items that make the rest
// unreadable are left out and counted. Errors, including those for a truncated
// feed, wrap ErrNoFeed.
func Decode(data []byte, contentType string) (f *gofeed.Feed, unread int, err error) {
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if bytes.HasPrefix(trimmed, []byte("{")) {
		if f, err = decode(trimmed); err != nil {
			f, unread, err = salvage(splitJSON(trimmed), decode, err)
		}
	} else {
		if at := bytes.Index(data[:min(len(data), maxBefore)], []byte("<?xml")); at > 0 {
			data = data[at:] // below what a server said of its own
		}
		text := webpage.XMLText(data, contentType)
		if f, err = wellFormed(text); err != nil {
			f, unread, err = salvage(splitXML(text), wellFormed, err)
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrNoFeed, err)
	}
	return f, unread, nil
}

// wellFormed is decode of XML in UTF-8 that was not checked.
func wellFormed(data []byte) (*gofeed.Feed, error) {
	text, err := webpage.XML(data, "text/xml; charset=utf-8")
	if err != nil {
		return nil, err
	}
	return decode(text)
}

// decode turns the library's panics, which null items of a JSON feed cause, into
// errors.
func decode(data []byte) (f *gofeed.Feed, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%v", cause)
		}
	}()
	parser := gofeed.NewParser()
	parser.KeepOriginalFeed = true
	if f, err = parser.Parse(bytes.NewReader(data)); err != nil {
		return nil, err
	}
	if f.FeedType == "json" && f.FeedVersion == "" {
		return nil, errors.New("JSON without a version of JSON Feed")
	}
	return f, nil
}

// nextPage returns the address of the page with older posts, "" if there is none.
func nextPage(f *gofeed.Feed) string {
	switch original := f.OriginalFeed().(type) {
	case *atom.Feed:
		for _, l := range original.Links {
			if l.Rel == "next" || l.Rel == "prev-archive" {
				return l.Href
			}
		}
	case *jsonfeed.Feed:
		return original.NextURL
	}
	for _, l := range f.Extensions["atom"]["link"] {
		if rel := l.Attrs["rel"]; rel == "next" || rel == "prev-archive" {
			return l.Attrs["href"]
		}
	}
	return ""
}

// read reads an item. Its name is its address, or its id in the feed if it has
// no address.
func read(item *gofeed.Item, f *gofeed.Feed, base *url.URL) (post, bool) {
	p := post{
		GUID: strings.TrimSpace(item.GUID), Title: webpage.Plain(item.Title), Language: f.Language,
		Published: when(item.PublishedParsed), Updated: when(item.UpdatedParsed),
	}
	link := strings.TrimSpace(item.Link)
	for _, origin := range item.Extensions["feedburner"]["origLink"] {
		link = cmp.Or(strings.TrimSpace(origin.Value), link) // the link counts clicks
	}
	for _, l := range item.Extensions["atom"]["link"] {
		if rel := l.Attrs["rel"]; link == "" && (rel == "" || rel == "alternate") {
			link = strings.TrimSpace(l.Attrs["href"])
		}
	}
	if link == "" && webpage.Address(p.GUID, nil) != nil {
		link = p.GUID
	}
	if link != "" {
		p.address = webpage.Address(link, base)
	}
	switch {
	case p.address != nil:
		p.name = webpage.Key(p.address)
	case p.GUID != "":
		p.name = base.Hostname() + guidMark + markName(p.GUID)
	default:
		return post{}, false
	}
	at := base.String()
	if p.address != nil {
		at = p.address.String()
	}
	p.Content, p.Description = text(item.Content, at), text(item.Description, at)
	if p.Content == "" {
		p.Content = p.Description
	}
	if p.Title == "" && p.Content == "" && p.address == nil {
		return post{}, false
	}
	for _, a := range item.Authors {
		if a != nil && a.Name != "" {
			p.Authors = append(p.Authors, webpage.Plain(a.Name))
		}
	}
	for _, c := range item.Categories {
		if c = webpage.Plain(c); c != "" && len(p.Tags) < 50 {
			p.Tags = append(p.Tags, c)
		}
	}
	if item.Image != nil {
		if u := webpage.Address(item.Image.URL, base); u != nil && item.Image.URL != "" {
			p.Image = u.String()
		}
	}
	return p, true
}

func when(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// text converts an item's HTML; "" if it cannot be read.
func text(fragment, at string) string {
	if strings.TrimSpace(fragment) == "" {
		return ""
	}
	s, err := webpage.Markdown(fragment, at)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(appeared.ReplaceAllString(s, ""))
}

// appeared matches the line that a publishing program writes below every item.
var appeared = regexp.MustCompile(`(?:^|\n)The post \[?.{1,300} (?:appeared first on|first appeared on) .{1,300}$`)

// maxSummary is the length in characters up to which a description is an excerpt
// and not the text itself.
const maxSummary = 700

// entry makes a post's record from the feed and its page.
func (c *connector) entry(p post, page webpage.Page) (catalog.Entry, error) {
	authors := p.Authors
	if len(authors) == 0 {
		authors = page.Authors
	}
	if authors == nil {
		authors = []string{}
	}
	data, err := catalog.Encode(catalog.Blog{
		GUID: p.GUID, Feed: c.address, Authors: authors,
		Image: cmp.Or(p.Image, page.Image), Language: cmp.Or(page.Language, p.Language),
	})
	if err != nil {
		return catalog.Entry{}, err
	}
	r := catalog.Record{
		Kind: catalog.KindBlog, Key: p.name, Title: cmp.Or(p.Title, page.Title), Container: c.opts.Site,
		Author:    strings.Join(authors, ", "),
		CreatedAt: p.Published, UpdatedAt: page.Modified, Body: longer(page.Body, p.Content), Data: data,
	}
	if p.address != nil {
		r.URL = p.address.String()
	}
	if r.CreatedAt.IsZero() {
		r.CreatedAt = page.Published
	}
	if r.CreatedAt.IsZero() {
		r.CreatedAt = p.Updated
	}
	if r.UpdatedAt.IsZero() {
		r.UpdatedAt = p.Updated
	}
	if r.Title == "" {
		r.Title = firstLine(r.Body)
	}
	if r.Tags = catalog.Tags(catalog.TagLabel, p.Tags...); len(r.Tags) == 0 {
		r.Tags = catalog.Tags(catalog.TagLabel, page.Tags...)
	}
	if markup.IsStub(r.Body) {
		r.Tags = append(r.Tags, catalog.TagStub)
	}
	r.Summary = summary(p, page, r.Body)
	return catalog.Entry{Record: r}, nil
}

// longer returns the text of the page, unless the feed's own is clearly longer:
// then the page shows only its beginning, or needs a browser.
func longer(page, feed string) string {
	if len(feed)*4 > len(page)*5 {
		return feed
	}
	return page
}

func summary(p post, page webpage.Page, body string) string {
	if utf8.RuneCountInString(p.Description) <= maxSummary && len(p.Description) < len(body) {
		if s := derive.TLDR(p.Description); s != "" {
			return s
		}
	}
	return cmp.Or(page.Description, derive.TLDR(body))
}

// firstLine returns a title for a post without one.
func firstLine(body string) string {
	const most = 80 // characters
	line, _, _ := strings.Cut(strings.TrimLeft(body, "#*> \n"), "\n")
	if utf8.RuneCountInString(line) <= most {
		return line
	}
	cut := string([]rune(line)[:most])
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	return cut + "…"
}
