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
	"almanac/ingest"
	"almanac/text/dates"
	"almanac/text/markdown"
	"almanac/text/markup"
	"almanac/text/webaddress"
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

// post is a post in a feed.
type post struct {
	name    string   // key of its record
	address *url.URL // of its page; nil if it has none
	shared  bool     // the page is that of other posts too: what it says is not the post's
	Said
}

// Said is what a feed says of an item. With something else the item is read again.
type Said struct {
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
		if u := webaddress.Canonical(next, base); u != nil {
			out.next = u.String()
		}
	}
	for _, item := range f.Items {
		if p, ok := read(item, f.Language, base); ok && len(out.posts) < maxPosts {
			out.posts = append(out.posts, p)
		}
	}
	return out, nil
}

const maxBefore = 4 << 10 // bytes before a feed

// Decode reads a feed of any format and encoding. Items whose XML is broken are left out and counted.
// Errors, including those for a truncated feed, wrap ErrNoFeed.
func Decode(data []byte, contentType string) (f *gofeed.Feed, unread int, err error) {
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if bytes.HasPrefix(trimmed, []byte("{")) {
		f, err = decode(trimmed)
	} else {
		if at := bytes.Index(data[:min(len(data), maxBefore)], []byte("<?xml")); at > 0 {
			data = data[at:] // below what a server said of its own
		}
		text := webpage.XMLText(data, contentType)
		if f, err = wellFormed(text); err != nil {
			rest, broken := withoutBroken(text)
			if others, rerr := wellFormed(rest); rerr == nil {
				f, unread, err = others, broken, nil
			}
		}
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", ErrNoFeed, err)
	}
	return f, unread, nil
}

var itemShape = regexp.MustCompile(`(?s)<(?:item|entry)[\s>].*?</(?:item|entry)\s*>`)

// withoutBroken returns RSS, RDF or Atom without the items that are no XML by themselves, and how many they are.
func withoutBroken(text []byte) (rest []byte, broken int) {
	rest = itemShape.ReplaceAllFunc(text, func(item []byte) []byte {
		if _, err := webpage.XML(item, "text/xml; charset=utf-8"); err != nil {
			broken++
			return nil
		}
		return item
	})
	return rest, broken
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
			err = fmt.Errorf("an item cannot be read: %v", cause)
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
func read(item *gofeed.Item, language string, base *url.URL) (post, bool) {
	p := post{}
	p.Said, p.address = Read(item, base)
	p.Language = language
	switch {
	case p.address != nil:
		p.name = webaddress.Key(p.address)
	case p.GUID != "" && p.Title+p.Content != "":
		p.name = base.Hostname() + guidMark + markName(p.GUID)
	}
	return p, p.name != ""
}

// Read reads an item of a feed, and the address of its page; nil if it has none.
func Read(item *gofeed.Item, base *url.URL) (s Said, address *url.URL) {
	s = Said{
		GUID: strings.TrimSpace(item.GUID), Title: webpage.Plain(item.Title), Published: Date(item.Published),
		Updated: Date(item.Updated),
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
	if link == "" && webaddress.Canonical(s.GUID, nil) != nil {
		link = s.GUID
	}
	at := base
	if link != "" {
		if address = webaddress.Canonical(link, base); address != nil {
			at = address
		}
	}
	s.Description = text(item.Description, at.String())
	s.Content = cmp.Or(text(item.Content, at.String()), s.Description)
	for _, a := range item.Authors {
		if a == nil {
			continue
		}
		if name := webpage.Plain(a.Name); name != "" {
			s.Authors = append(s.Authors, name)
		}
	}
	for _, c := range item.Categories {
		if c = webpage.Plain(c); c != "" && len(s.Tags) < 50 {
			s.Tags = append(s.Tags, c)
		}
	}
	if item.Image != nil && item.Image.URL != "" {
		if u := webaddress.Canonical(item.Image.URL, base); u != nil {
			s.Image = u.String()
		}
	}
	return s, address
}

// Date reads the date of an item, zero for none. The library's own reader takes
// most names of zones for UTC.
func Date(s string) time.Time { return dates.At(s, dates.Day|dates.Local|dates.Instant|dates.Free) }

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
func (c connector) entry(p post, page webpage.Page) (catalog.Entry, error) {
	authors := append([]string{}, p.Authors...)
	if len(authors) == 0 {
		authors = append(authors, page.Authors...)
	}
	data, err := catalog.Encode(catalog.Blog{
		GUID: p.GUID, Feed: c.address, Authors: authors,
		Image: cmp.Or(p.Image, page.Image), Language: cmp.Or(page.Language, p.Language),
	})
	body := longer(page.Body, p.Content)
	r := catalog.Record{
		Kind: catalog.KindBlog, Key: p.name, Title: cmp.Or(p.Title, page.Title, firstLine(body)), Container: c.Site,
		Author: strings.Join(authors, ", "), CreatedAt: cmp.Or(p.Published, page.Published, p.Updated),
		UpdatedAt: cmp.Or(page.Modified, p.Updated), Body: body, Summary: summary(p, page, body), Data: data,
	}
	if p.address != nil {
		r.URL = p.address.String()
	}
	if r.Tags = catalog.Tags(catalog.TagLabel, p.Tags...); len(r.Tags) == 0 {
		r.Tags = catalog.Tags(catalog.TagLabel, page.Tags...)
	}
	if markup.IsStub(r.Body) {
		r.Tags = append(r.Tags, catalog.TagStub)
	}
	var aliases []string
	// All pages of some templates claim to be the home page of their site.
	if u := webaddress.Canonical(page.Canonical, nil); u != nil && (webaddress.Path(u) != "" || webaddress.Path(p.address) == "") {
		r.URL = u.String()
		if key := webaddress.Key(u); key != r.Key {
			aliases = []string{key}
		}
	}
	return catalog.Entry{Record: r, Aliases: aliases}, err
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
	line, _, _ := strings.Cut(strings.TrimLeft(body, "#*> \n"), "\n")
	return markdown.Clip(line, 80)
}

// guidMark separates the address of a post from its id in a name.
const guidMark = "#"

// apart returns the posts of a feed, each once: of several with one address and
// one id the one that changed last. Posts with one address that differ by their
// ids, such as the changes that one page lists, are named by both from then on.
func apart(run *ingest.Listing, posts []post) []post {
	shared := map[string]bool{} // addresses
	for name := range run.Known.Items {
		if address, _, ok := strings.Cut(name, guidMark); ok {
			shared[address] = true
		}
	}
	guids := map[string]string{} // by address
	for _, p := range posts {
		if p.address != nil && p.GUID != "" {
			if other, met := guids[p.name]; met && other != p.GUID {
				shared[p.name] = true
			}
			guids[p.name] = p.GUID
		}
	}
	var all []post
	at := map[string]int{} // index of a post by its name
	for _, p := range posts {
		if p.address != nil && p.GUID != "" && shared[p.name] {
			run.Drop(p.name) // from a time when nothing shared it
			p.name, p.shared = p.name+guidMark+markName(p.GUID), true
		}
		if i, twice := at[p.name]; !twice {
			at[p.name] = len(all)
			all = append(all, p)
		} else if p.Updated.After(all[i].Updated) {
			all[i] = p
		}
	}
	return all
}

// seen reports whether an earlier run has seen a post.
func seen(run *ingest.Listing, p post) bool {
	_, alone := run.Known.Items[p.name]
	_, shared := run.Known.Items[p.name+guidMark+markName(p.GUID)]
	return alone || shared
}

// markName returns an id as part of a name.
func markName(guid string) string { return strings.Join(strings.Fields(markup.Clean(guid)), " ") }
