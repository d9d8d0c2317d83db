// Package site reads a website: the pages that its sitemap or its llms.txt
// lists, from HTML or Markdown.
//
// A page becomes one record, keyed by its address without scheme, www and the
// extension of a rendered page, so that page.html, page.md and page/ are the
// same. Only pages on the url's host are read, except those that robots.txt or
// the page itself excludes from indexing. A page whose canonical address is
// another listed page, or that redirects to one, is a copy and has no record.
package site

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/listing"
	"almanac/ingest/memory"
	"almanac/ingest/outbound"
	"almanac/text/webpage"
)

// rules is the version of how this package reads a site. A new version makes
// the next run read every page again.
const rules = "3"

type options struct {
	URL      string        `yaml:"url"`
	Kind     catalog.Kind  `yaml:"kind"`
	Sitemap  string        `yaml:"sitemap"`
	LLMs     string        `yaml:"llms"`
	Name     string        `yaml:"name"`
	Include  []string      `yaml:"include"`
	Exclude  []string      `yaml:"exclude"`
	MaxPages int           `yaml:"max_pages"`
	Sweep    time.Duration `yaml:"sweep"`
}

type connector struct {
	opts  options
	start *url.URL
	scope webpage.Scope
	env   ingest.Environment
}

// Kind is the kind of sources that network files call site.
var Kind = ingest.Described{
	Name:        "site",
	Summary:     "Reads a website: the pages that its sitemap or its llms.txt lists, from HTML or Markdown.",
	Constructor: New,
	Example: `sources:
  - name: foundation
    kind: site
    every: 24h
    options:
      url: https://www.example.org/  # of the site
      kind: foundation          # of the records: foundation (default), doc or blog
      sitemap: https://www.example.org/sitemap.xml  # default: those in robots.txt, else /sitemap.xml
      llms: https://www.example.org/llms.txt        # instead of a sitemap
      name: Example Foundation  # container of the records; default the host
      include: [/about/**]      # paths; default all
      exclude: [/tag/**]        # paths to leave out; default none
      max_pages: 5000           # pages that are read at most; default 5000
      sweep: 168h               # how often to request pages that the sitemap calls unchanged; default 168h
`,
}

// New makes the connector of a source; it is a Constructor of kind "site".
func New(src network.Source, env ingest.Environment) (ingest.Cursored, error) {
	o := options{Kind: catalog.KindFoundation, MaxPages: 5000, Sweep: 7 * 24 * time.Hour}
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return nil, err
	}
	start := webpage.Address(o.URL, nil)
	switch {
	case start == nil:
		return nil, errors.New("option url: want the site's address, such as https://www.example.org/")
	case o.Kind != catalog.KindFoundation && o.Kind != catalog.KindDoc && o.Kind != catalog.KindBlog:
		return nil, fmt.Errorf("option kind: %q; want foundation, doc or blog", o.Kind)
	case o.Sitemap != "" && o.LLMs != "":
		return nil, errors.New("options sitemap and llms: want only one of them")
	case o.Sitemap != "" && webpage.Address(o.Sitemap, nil) == nil:
		return nil, errors.New("option sitemap: want an address such as https://www.example.org/sitemap.xml")
	case o.LLMs != "" && webpage.Address(o.LLMs, nil) == nil:
		return nil, errors.New("option llms: want an address such as https://docs.example.org/llms.txt")
	case o.MaxPages <= 0:
		return nil, fmt.Errorf("option max_pages: %d; want a positive number", o.MaxPages)
	case o.Sweep <= 0:
		return nil, fmt.Errorf("option sweep: %s; want a duration such as 168h", o.Sweep)
	case env.WorkDir == "":
		return nil, errors.New("site: needs a working directory to remember what was seen")
	}
	if o.Name == "" {
		o.Name = host(start)
	}
	scope, err := webpage.NewScope(o.Include, o.Exclude)
	if err != nil {
		return nil, err
	}
	return &connector{o, start, scope, env}, nil
}

// host returns a host name in a form shared by all addresses of a site.
func host(u *url.URL) string { return strings.TrimPrefix(u.Host, "www.") }

// Sync implements ingest.Cursored. The cursor names the file with the memory
// of the pages.
func (c *connector) Sync(ctx context.Context, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	known := listing.Recall(c.env.WorkDir, cursor, memory.Settings(rules, c.opts))
	s := &syncRun{connector: c, out: out, Run: listing.NewRun(listing.Config{
		HTTP: c.env.HTTP, Out: out, Kind: c.opts.Kind, Known: known.State, Sweep: c.opts.Sweep, Now: c.env.Now(),
	})}
	if err := s.read(ctx); err != nil {
		return ingest.Outcome{}, fmt.Errorf("site: %w", err)
	}
	cursor, err := (listing.Memory{Settings: known.Settings, State: s.Now}).Remember(c.env.WorkDir, cursor)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("site: %w", err)
	}
	return ingest.Outcome{Cursor: cursor, Complete: s.whole && s.Whole(), Gone: s.Gone()}, nil
}

// syncRun is one pass over the site.
type syncRun struct {
	*connector
	*listing.Run
	out    ingest.Sink
	pages  []page
	listed map[string]bool // names of pages
	whole  bool            // the whole list could be read
}

// page is a page of the list.
type page struct {
	name                 string // key of its record
	address              *url.URL
	stamp                string // when it changed, as written in the sitemap
	title, note, section string // of llms.txt
}

var types = []string{"text/html", "application/xhtml+xml", "text/markdown", "text/plain"}

func (s *syncRun) read(ctx context.Context) error {
	s.listed, s.whole = map[string]bool{}, true
	if err := s.list(ctx); err != nil {
		return err
	}
	for i, p := range s.pages {
		if err := s.page(ctx, p); err != nil {
			return err
		}
		s.out.Progress(i+1, len(s.pages))
	}
	if !s.whole {
		for _, name := range s.Missing() {
			s.Keep(name)
		}
	}
	return s.Close()
}

// page reads a page and writes its record.
func (s *syncRun) page(ctx context.Context, p page) error {
	it := listing.Item{Name: p.name, Address: p.address.String(), Accept: types}
	if p.stamp != "" {
		it.Stamp = listing.Stamp(p.stamp, p.title, p.note, p.section)
	}
	answer, state, err := s.Ask(ctx, it)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch state {
	case listing.Kept:
		return nil
	case listing.Gone:
		s.out.Warn(p.name, "the site lists it, but it does not exist")
		return nil
	case listing.Failed:
		s.Fail(it, err)
		return nil
	}
	e, err := s.entry(p, answer)
	switch {
	case errors.Is(err, errUnwanted):
		s.Omit(it)
		return nil
	case err != nil:
		s.Fail(it, err)
		return nil
	}
	return s.Put(ctx, it, e, answer)
}

// copyOf reports whether a page's canonical address is that of another listed
// page.
func (s *syncRun) copyOf(p page, address string) bool {
	u := webpage.Address(address, nil)
	return u != nil && webpage.Key(u) != p.name && s.listed[webpage.Key(u)]
}

// moved reports whether an answer came from another listed page, or from the
// front page of a site, where addresses of removed pages often redirect.
func (s *syncRun) moved(p page, answer outbound.Response) bool {
	return s.copyOf(p, answer.URL) || front(answer.URL) && webpage.Path(p.address) != ""
}

// front reports whether an address is that of the front page of a site.
func front(address string) bool {
	u := webpage.Address(address, nil)
	return u != nil && webpage.Path(u) == ""
}
