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
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/listing"
	"almanac/ingest/memory"
	"almanac/ingest/outbound"
	"almanac/text/webpage"
)

// rules is the version of how this package reads a feed. After a change every
// post is read again.
const rules = "3"

type options struct {
	URL     string        `yaml:"url"`
	Site    string        `yaml:"site"`
	Pages   bool          `yaml:"pages"`
	Include []string      `yaml:"include"`
	Exclude []string      `yaml:"exclude"`
	Sweep   time.Duration `yaml:"sweep"`
}

type connector struct {
	opts    options
	address string // of the feed, without its query, which may hold a secret
	scope   webpage.Scope
	env     ingest.Environment
}

// Kind is the kind of sources that network files call feed.
var Kind = ingest.Described{
	Name:        "feed",
	Summary:     "Reads a blog or a news page through its feed: RSS, RDF, Atom or JSON Feed.",
	Constructor: New,
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
}

// New makes the connector of a source; it is the Constructor of kind "feed".
func New(src network.Source, env ingest.Environment) (ingest.Cursored, error) {
	o := options{Pages: true, Sweep: 7 * 24 * time.Hour}
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return nil, err
	}
	u := webpage.Address(o.URL, nil)
	switch {
	case u == nil:
		return nil, errors.New("option url: want the feed's address, such as https://blog.example.org/feed.xml")
	case o.Sweep <= 0:
		return nil, fmt.Errorf("option sweep: %s; want a time such as 168h", o.Sweep)
	case env.WorkDir == "":
		return nil, errors.New("feed: a working directory is needed for the state of posts")
	}
	if o.Site == "" {
		o.Site = u.Hostname()
	}
	u.RawQuery = ""
	scope, err := webpage.NewScope(o.Include, o.Exclude)
	if err != nil {
		return nil, err
	}
	return &connector{o, u.String(), scope, env}, nil
}

// types are the media types of feeds. Many servers use others; the content
// decides.
var types = []string{
	"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml",
	"application/xml", "application/json", "application/octet-stream", "text/*",
}

var pageTypes = []string{"text/html", "application/xhtml+xml"}

const (
	maxFeed  = 8 << 20  // bytes of one page of a feed
	maxPages = 100      // of a feed
	maxBytes = 64 << 20 // of all its pages
)

// Sync implements ingest.Cursored. The cursor names the file with the state of
// the posts.
func (c *connector) Sync(ctx context.Context, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	known := listing.Recall(c.env.WorkDir, cursor, memory.Settings(rules, c.opts))
	s := &syncRun{connector: c, out: out, Run: listing.NewRun(listing.Config{
		HTTP: c.env.HTTP, Out: out, Kind: catalog.KindBlog, Known: known.State, Sweep: c.opts.Sweep, Now: c.env.Now(),
	})}
	changed, err := s.read(ctx)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("feed: %w", err)
	}
	if !changed {
		return ingest.Outcome{Cursor: cursor}, nil
	}
	if cursor, err = (listing.Memory{Settings: known.Settings, State: s.Now}).Remember(c.env.WorkDir, cursor); err != nil {
		return ingest.Outcome{}, fmt.Errorf("feed: %w", err)
	}
	return ingest.Outcome{Cursor: cursor, Gone: s.Gone()}, nil
}

// syncRun is one reading of the feed.
type syncRun struct {
	*connector
	*listing.Run
	out ingest.Sink
}

// read reads the feed and its posts; false if the feed did not change.
func (s *syncRun) read(ctx context.Context) (changed bool, err error) {
	posts, err := s.posts(ctx)
	if errors.Is(err, errUnchanged) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	posts = s.apart(posts)
	for i, p := range posts {
		if err := s.post(ctx, p); err != nil {
			return false, err
		}
		s.out.Progress(i+1, len(posts))
	}
	for _, name := range s.Missing() {
		if u := webpage.Address(s.Known.Items[name].Address, nil); u != nil && !s.scope.Holds(u) {
			s.Drop(name) // the options exclude it now
			continue
		}
		if s.Check(ctx, name, pageTypes); ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	return true, s.Close()
}

var errUnchanged = errors.New("the feed did not change")

// posts reads the feed, page by page while they have new posts.
func (s *syncRun) posts(ctx context.Context) ([]post, error) {
	request := outbound.Request{URL: s.opts.URL, Accept: types, MaxBody: maxFeed}
	if !s.Sweep() && !s.pending() {
		request.ETag, request.LastModified = s.Known.List.ETag, s.Known.List.LastModified
	}
	var posts []post
	met := map[[2]string]bool{} // names and ids of posts
	read := 0                   // bytes
	for page := 1; ; page++ {
		answer, err := s.env.HTTP.Do(ctx, request)
		if err == nil && answer.NotModified {
			return nil, errUnchanged
		}
		var f parsed
		if err == nil {
			f, err = parse(answer.Body, answer.Header.Get("Content-Type"), answer.URL)
		}
		switch {
		case err == nil && page == 1:
			s.Now.List = listing.Validators{ETag: answer.ETag, LastModified: answer.LastModified}
		case err == nil:
		case page == 1 || ctx.Err() != nil:
			return nil, err
		default: // the next run reads the rest
			s.out.Warn(fmt.Sprintf("page %d of the feed", page), "could not be read: "+err.Error())
			s.Now.List, s.Now.Swept = listing.Validators{}, s.Known.Swept
			return posts, nil
		}
		read += len(answer.Body)
		if f.unread > 0 {
			s.out.Skip(fmt.Sprintf("page %d of the feed", page), fmt.Errorf("%d items are not well-formed", f.unread))
		}
		fresh, unseen := 0, 0
		for _, p := range f.posts {
			if p.address != nil && !s.scope.Holds(p.address) {
				continue
			}
			posts = append(posts, p)
			if id := [2]string{p.name, p.GUID}; !met[id] {
				met[id] = true
				fresh++
				if !s.known(p) {
					unseen++
				}
			}
		}
		if f.next == "" || unseen == 0 && !s.Sweep() {
			return posts, nil
		}
		if fresh == 0 || page == maxPages || read > maxBytes || len(posts) >= maxPosts {
			s.out.Warn(fmt.Sprintf("page %d of the feed", page),
				"has a next page, but the limit is reached; later pages were not read")
			return posts, nil
		}
		request = outbound.Request{URL: f.next, Accept: types, MaxBody: maxFeed}
	}
}

// pending reports a post that was not fully read.
func (s *syncRun) pending() bool {
	for _, seen := range s.Known.Items {
		if seen.Pending {
			return true
		}
	}
	return false
}

// post reads the page of a post and puts its record.
func (s *syncRun) post(ctx context.Context, p post) error {
	it := listing.Item{Name: p.name, Stamp: listing.Stamp(p), Accept: pageTypes}
	if p.address != nil && !p.shared {
		it.Address = p.address.String()
	}
	old, known := s.Known.Items[p.name]
	if !s.opts.Pages || it.Address == "" {
		if known && old.Stamp == it.Stamp {
			s.Keep(p.name)
			return nil
		}
		return s.put(ctx, it, p, webpage.Page{}, outbound.Response{})
	}
	answer, state, err := s.Ask(ctx, it)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var page webpage.Page
	if state == listing.Fresh {
		page, err = webpage.Parse(answer.Body, answer.Header.Get("Content-Type"), answer.URL)
	}
	switch {
	case state == listing.Kept:
		return nil
	case state == listing.Gone:
		s.out.Warn(p.name, "the feed lists it, but its page does not exist")
		return nil
	case err == nil:
		return s.put(ctx, it, p, page, answer)
	case known && old.Stamp != "" || p.Content == "": // the stored text is better, or there is no other
		s.Fail(it, err)
		return nil
	}
	s.out.Warn(p.name, "its page could not be read, so the feed's own text is used: "+err.Error())
	e, err := s.entry(p, webpage.Page{})
	if err != nil {
		s.Fail(it, err)
		return nil
	}
	return s.PutPending(ctx, it, e)
}

func (s *syncRun) put(ctx context.Context, it listing.Item, p post, page webpage.Page, answer outbound.Response) error {
	e, err := s.entry(p, page)
	if err != nil {
		s.Fail(it, err)
		return nil
	}
	s.ownAddress(&e, p, page)
	return s.Put(ctx, it, e, answer)
}

// ownAddress gives a post the canonical address of its page, unless that is the
// home page of a site, which all pages of some templates claim to be.
func (s *syncRun) ownAddress(e *catalog.Entry, p post, page webpage.Page) {
	u := webpage.Address(page.Canonical, nil)
	if u == nil || webpage.Path(u) == "" && webpage.Path(p.address) != "" {
		return
	}
	e.Record.URL = u.String()
	if key := webpage.Key(u); key != e.Record.Key && !slices.Contains(e.Aliases, key) {
		e.Aliases = append(e.Aliases, key)
	}
}
