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
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/webaddress"
)

// Kind is the kind of sources that network files call site.
var Kind = ingest.Kind[settings, ingest.Items]{
	Name:    "site",
	Summary: "Reads a website: the pages that its sitemap or its llms.txt lists, from HTML or Markdown.",
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
	Defaults: settings{Kind: catalog.KindFoundation, MaxPages: 5000, Sweep: 7 * 24 * time.Hour},
	Open: func(s settings, env ingest.Environment) (ingest.Connector[ingest.Items], error) {
		return connector{s, env}, nil
	},
}

type settings struct {
	URL      string        `yaml:"url" required:"true" format:"address"`
	Kind     catalog.Kind  `yaml:"kind" enum:"foundation|doc|blog"`
	Sitemap  string        `yaml:"sitemap" format:"address"`
	LLMs     string        `yaml:"llms" format:"address"`
	Name     string        `yaml:"name"`
	Include  []string      `yaml:"include" format:"glob"`
	Exclude  []string      `yaml:"exclude" format:"glob"`
	MaxPages int           `yaml:"max_pages" min:"1"`
	Sweep    time.Duration `yaml:"sweep" min:"1s"`

	start *url.URL
	scope webaddress.Scope
}

// Check completes the settings.
func (s *settings) Check() (err error) {
	if s.Sitemap != "" && s.LLMs != "" {
		return errors.New("options sitemap and llms: want only one of them")
	}
	s.start = webaddress.Canonical(s.URL, nil)
	s.Name = cmp.Or(s.Name, host(s.start))
	s.scope, err = webaddress.NewScope(s.Include, s.Exclude)
	return err
}

type connector struct {
	settings
	env ingest.Environment
}

// host returns a host name in a form shared by all addresses of a site.
func host(u *url.URL) string { return strings.TrimPrefix(u.Host, "www.") }

var types = []string{"text/html", "application/xhtml+xml", "text/markdown", "text/plain"}

// Sync implements ingest.Connector.
func (c connector) Sync(ctx context.Context, known ingest.Items, out ingest.Sink) (ingest.Items, ingest.Outcome, error) {
	run := ingest.NewListing(c.env, c.Kind, c.Sweep, known, out)
	s := &survey{connector: c, out: out, listed: map[string]bool{}, met: map[string]bool{}, cut: map[string]bool{}}
	err := s.list(ctx)
	if err == nil {
		items := make([]ingest.Item, len(s.pages))
		for i, p := range s.pages {
			items[i] = ingest.Item{Name: p.name, Address: p.address.String(), Accept: types}
			if p.stamp != "" {
				items[i].Stamp = ingest.Digest(p.stamp, p.title, p.note, p.section)
			}
		}
		err = run.Each(ctx, items, func(i int, answer outbound.Response) (catalog.Entry, error) {
			return s.entry(s.pages[i], answer)
		})
	}
	if s.partial {
		for name := range run.Missing() {
			run.Keep(name)
		}
	}
	return run.Done(!s.partial, err)
}
