// Package feed reads a blog or a news page through its feed: RSS, RDF, Atom or
// JSON Feed.
//
// A post becomes a record of kind blog, keyed by its address without scheme, and
// by its id too where several posts of the feed have one address. Its text is that
// of its page, or that of the feed if it is longer, the page cannot be read or is
// that of other posts too.
//
// A feed lists only the newest posts, so one that it no longer lists stays as
// long as its page exists: the page is requested when the post is first missing
// and with every sweep. A paged feed (RFC 5005, next_url) is read as long as its
// pages have new posts.
package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/webaddress"
	"almanac/text/webpage"
)

// Kind is the kind of sources that network files call feed.
var Kind = ingest.Kind[settings, ingest.Items]{
	Name:    "feed",
	Summary: "Reads a blog or a news page through its feed: RSS, RDF, Atom or JSON Feed.",
	Example: `sources:
  - name: blog
    kind: feed
    every: 1h
    options:
      url: https://blog.example.org/feed.xml  # of the feed
      site: Example Journal     # name of the site; default its host
      pages: true               # read the posts' own pages for their full text; default true
      include: [/posts/**]      # paths of posts; default all
      exclude: [/posts/jobs-*]  # paths of posts to leave out; default none
      sweep: 168h               # how often to request all pages; default 168h
`,
	Defaults: settings{Pages: true, Sweep: 7 * 24 * time.Hour},
	Open: func(s settings, env ingest.Environment) (ingest.Connector[ingest.Items], error) {
		return connector{s, env}, nil
	},
}

type settings struct {
	URL     string        `yaml:"url" required:"true" format:"address"`
	Site    string        `yaml:"site"`
	Pages   bool          `yaml:"pages"`
	Include []string      `yaml:"include" format:"glob"`
	Exclude []string      `yaml:"exclude" format:"glob"`
	Sweep   time.Duration `yaml:"sweep" min:"1s"`

	address string // of the feed, without its query, which may hold a secret
	scope   webaddress.Scope
}

// Check completes the settings.
func (s *settings) Check() (err error) {
	u := webaddress.Canonical(s.URL, nil)
	s.Site = cmp.Or(s.Site, u.Hostname())
	u.RawQuery = ""
	s.address = u.String()
	s.scope, err = webaddress.NewScope(s.Include, s.Exclude)
	return err
}

type connector struct {
	settings
	env ingest.Environment
}

// types are the media types of feeds. Many servers use others; the content
// decides.
var types = []string{
	"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml",
	"application/xml", "application/json", "application/octet-stream", "text/*",
}

// Request is the request for a feed.
func Request(address string) outbound.Request {
	return outbound.Request{URL: address, Accept: types, MaxBody: maxFeed}
}

var pageTypes = []string{"text/html", "application/xhtml+xml"}

const (
	maxFeed  = 8 << 20  // bytes of one page of a feed
	maxPages = 100      // of a feed
	maxBytes = 64 << 20 // of all its pages
)

// Sync implements ingest.Connector.
func (c connector) Sync(ctx context.Context, known ingest.Items, out ingest.Sink) (ingest.Items, ingest.Outcome, error) {
	run := ingest.NewListing(c.env, catalog.KindBlog, c.Sweep, known, out)
	posts, err := c.posts(ctx, run, out)
	if errors.Is(err, errUnchanged) {
		return known, ingest.Outcome{}, nil
	}
	if err == nil {
		posts = apart(run, posts)
		err = run.Each(ctx, c.items(posts), func(i int, answer outbound.Response) (catalog.Entry, error) {
			if answer.URL == "" { // its page was not requested
				return c.entry(posts[i], webpage.Page{})
			}
			page, err := webpage.Parse(answer.Body, answer.Header.Get("Content-Type"), answer.URL)
			if err != nil {
				return catalog.Entry{}, err
			}
			return c.entry(posts[i], page)
		})
	}
	if err == nil {
		err = c.missing(ctx, run)
	}
	return run.Done(false, err)
}

// items are the posts as items of a list.
func (c connector) items(posts []post) []ingest.Item {
	items := make([]ingest.Item, len(posts))
	for i, p := range posts {
		items[i] = ingest.Item{Name: p.name, Stamp: ingest.Digest(p.Said), Accept: pageTypes}
		if p.address != nil && !p.shared {
			items[i].Address = p.address.String()
		}
		if !c.Pages || items[i].Address == "" {
			items[i].Open = ingest.Nothing
		}
		if p.Content != "" {
			items[i].Bare = func() (catalog.Entry, error) { return c.entry(p, webpage.Page{}) }
		}
	}
	return items
}

// missing settles what the feed no longer lists.
func (c connector) missing(ctx context.Context, run *ingest.Listing) error {
	for name, old := range run.Missing() {
		if u := webaddress.Canonical(old.Address, nil); u != nil && !c.scope.Holds(u) {
			run.Drop(name) // the options exclude it now
			continue
		}
		if run.Check(ctx, name, pageTypes); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

var errUnchanged = errors.New("the feed did not change")

// posts reads the feed, page by page while they have new posts.
func (c connector) posts(ctx context.Context, run *ingest.Listing, out ingest.Sink) ([]post, error) {
	request := Request(c.URL)
	if !run.Sweep {
		request.ETag, request.LastModified = run.Known.List.ETag, run.Known.List.LastModified
	}
	var posts []post
	met := map[[2]string]bool{} // names and ids of posts
	read := 0                   // bytes
	for page := 1; ; page++ {
		answer, err := c.env.HTTP.Do(ctx, request)
		if err == nil && answer.NotModified {
			return nil, errUnchanged
		}
		var f parsed
		if err == nil {
			f, err = parse(answer.Body, answer.Header.Get("Content-Type"), answer.URL)
		}
		switch {
		case err == nil && page == 1:
			run.Now.List = ingest.Validators{ETag: answer.ETag, LastModified: answer.LastModified}
		case err == nil:
		case page == 1 || ctx.Err() != nil:
			return nil, err
		default: // the next run reads the rest
			out.Warn(fmt.Sprintf("page %d of the feed", page), "could not be read: "+err.Error())
			run.Now.List, run.Now.Swept = ingest.Validators{}, run.Known.Swept
			return posts, nil
		}
		read += len(answer.Body)
		if f.unread > 0 {
			out.Skip(fmt.Sprintf("page %d of the feed", page), fmt.Errorf("%d items are not well-formed", f.unread))
		}
		fresh, unseen := 0, 0
		for _, p := range f.posts {
			if p.address != nil && !c.scope.Holds(p.address) {
				continue
			}
			posts = append(posts, p)
			if id := [2]string{p.name, p.GUID}; !met[id] {
				met[id] = true
				fresh++
				if !seen(run, p) {
					unseen++
				}
			}
		}
		if f.next == "" || unseen == 0 && !run.Sweep {
			return posts, nil
		}
		if fresh == 0 || page == maxPages || read > maxBytes || len(posts) >= maxPosts {
			out.Warn(fmt.Sprintf("page %d of the feed", page),
				"has a next page, but the limit is reached; later pages were not read")
			return posts, nil
		}
		request = Request(f.next)
	}
}
