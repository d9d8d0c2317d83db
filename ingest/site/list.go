package site

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/temoto/robotstxt"

	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/webaddress"
	"almanac/text/webpage"
)

const (
	maxMaps     = 1000      // files of a sitemap
	maxMap      = 64 << 20  // bytes per file, unpacked
	maxMapBytes = 256 << 20 // bytes of all files of a sitemap
	maxReasons  = 10        // warnings of sitemaps that are left out
	maxList     = 8 << 20   // bytes of robots.txt or llms.txt
)

var (
	mapTypes = []string{"application/xml", "application/gzip", "application/x-gzip", "application/octet-stream",
		"text/*"}
	listTypes = []string{"text/plain", "text/markdown", "application/octet-stream"}
)

// survey finds the pages of a site. What a site lists is its author's word, so the
// number of its sitemaps is bounded, and all are on the site's host or on that of the
// sitemap which the options name.
type survey struct {
	connector
	out     ingest.Sink
	pages   []page
	listed  map[string]bool // names of pages
	partial bool            // pages or sitemaps are left out

	waiting []*url.URL      // sitemaps to read
	met     map[string]bool // sitemaps: waiting or read
	bytes   int64           // of the sitemaps that were read
	cut     map[string]bool // reasons why some are left out, each reported once
}

// page is a page of the list.
type page struct {
	name                 string // key of its record
	address              *url.URL
	stamp                string // when it changed, as written in the sitemap
	title, note, section string // of llms.txt
}

// list finds the pages of the site.
func (s *survey) list(ctx context.Context) error {
	robots, err := s.robots(ctx)
	if err != nil {
		return err
	}
	refused := map[string]bool{}
	add := func(p page) {
		p.name = webaddress.Key(p.address)
		allowed := robots == nil || robots.TestAgent(p.address.RequestURI(), outbound.DefaultUserAgent)
		switch {
		case s.listed[p.name] || refused[p.name] || host(p.address) != host(s.start) || !s.scope.Holds(p.address):
		case !allowed:
			refused[p.name] = true
			s.out.Skip(p.name, fmt.Errorf("%w: robots.txt asks not to read it", ingest.ErrNoItem))
		case len(s.pages) == s.MaxPages:
			s.leave(fmt.Sprintf("the site lists more than the %d pages of option max_pages; the rest is skipped",
				s.MaxPages))
		default:
			s.listed[p.name] = true
			s.pages = append(s.pages, p)
		}
	}
	if s.LLMs != "" {
		return s.llms(ctx, add)
	}
	maps := []*url.URL{webaddress.Canonical(s.Sitemap, nil)}
	if s.Sitemap == "" {
		maps = []*url.URL{s.start.ResolveReference(&url.URL{Path: "/sitemap.xml"})}
		if robots != nil && len(robots.Sitemaps) > 0 {
			maps = nil
			for _, raw := range robots.Sitemaps {
				if u := webaddress.Canonical(raw, s.start); u != nil {
					maps = append(maps, u)
				}
			}
		}
	}
	return s.sitemaps(ctx, maps, add)
}

// robots reads the site's robots.txt; nil if it has none (RFC 9309, 2.3.1.3).
func (s *survey) robots(ctx context.Context) (*robotstxt.RobotsData, error) {
	answer, err := s.env.HTTP.Do(ctx, outbound.Request{
		URL: s.start.ResolveReference(&url.URL{Path: "/robots.txt"}).String(), Accept: listTypes, MaxBody: maxList,
	})
	switch blame := outbound.BlameOf(err); {
	case errors.Is(err, outbound.ErrRefused):
		return nil, err
	case blame == outbound.Gone || blame == outbound.Item:
		return nil, nil
	case err != nil:
		return nil, err
	}
	robots, err := robotstxt.FromBytes(answer.Body)
	if err != nil {
		s.out.Warn("robots.txt", "could not be read: "+err.Error())
		return nil, nil
	}
	return robots, nil
}

// queue adds sitemaps to those that are read.
func (s *survey) queue(maps []*url.URL) {
	named := webaddress.Canonical(s.Sitemap, nil)
	for _, u := range maps {
		switch at := u.String(); {
		case s.met[at]:
		case host(u) != host(s.start) && (named == nil || host(u) != host(named)):
			s.leave("a sitemap on another host is skipped: " + host(u))
		case len(s.met) == maxMaps:
			s.leave(fmt.Sprintf("the site has more than %d sitemaps; the rest is skipped", maxMaps))
			return
		default:
			s.met[at] = true
			s.waiting = append(s.waiting, u)
		}
	}
}

// leave reports that the list is incomplete.
func (s *survey) leave(why string) {
	s.partial = true
	if !s.cut[why] && len(s.cut) < maxReasons {
		s.cut[why] = true
		s.out.Warn(s.Name, why)
	}
}

// sitemaps reads sitemaps, recursively. If one of several cannot be read, the list is
// incomplete.
func (s *survey) sitemaps(ctx context.Context, maps []*url.URL, add func(page)) error {
	s.queue(maps)
	read := 0
	var last error
	for ; len(s.waiting) > 0; s.waiting = s.waiting[1:] {
		if s.bytes > maxMapBytes {
			s.leave(fmt.Sprintf("the site's sitemaps have more than %d MB; the rest is skipped", maxMapBytes>>20))
			break
		}
		at := s.waiting[0]
		answer, err := s.env.HTTP.Do(ctx, outbound.Request{URL: at.String(), Accept: mapTypes, MaxBody: maxMap})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.bytes += int64(len(answer.Body))
		var m webpage.Sitemap
		if err == nil {
			m, err = webpage.ParseSitemap(answer.Body, at)
		}
		if err != nil {
			last, s.partial = err, true
			s.out.Skip(webaddress.Key(at), err)
			continue
		}
		read++
		s.queue(m.Maps)
		for _, l := range m.Pages {
			add(page{address: l.URL, stamp: l.LastMod})
		}
	}
	switch {
	case read == 0 && last != nil:
		return fmt.Errorf("no sitemap could be read: %w", last)
	case len(s.pages) == 0 && s.partial:
		return errors.New("the sitemaps that could be read list no page of the site")
	}
	return nil
}

// llms reads an llms.txt (llmstxt.org).
func (s *survey) llms(ctx context.Context, add func(page)) error {
	at := webaddress.Canonical(s.LLMs, nil)
	answer, err := s.env.HTTP.Do(ctx, outbound.Request{URL: at.String(), Accept: listTypes, MaxBody: maxList})
	if err != nil {
		return err
	}
	pages := parseLLMs(webpage.Decode(answer.Body, answer.Header.Get("Content-Type")), at)
	if len(pages) == 0 {
		return errors.New("llms.txt lists no pages: want lines such as - [Title](https://docs.example.org/page.md): " +
			"what it is about")
	}
	for _, p := range pages {
		add(p)
	}
	return nil
}

var (
	sectionLine = regexp.MustCompile(`^##\s+(.+?)\s*#*$`)
	linkLine    = regexp.MustCompile(`^\s*[-*+]\s+\[((?:[^\[\]]|` +
		`\[[^\[\]]*\])*)\]\(\s*<?([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\s*\)\s*(?:[:–—-]\s*(.*))?$`)
)

const maxLinks = 50_000

// parseLLMs returns the pages in lists of links, with the heading of their
// section.
func parseLLMs(text string, base *url.URL) []page {
	var pages []page
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		if m := sectionLine.FindStringSubmatch(line); m != nil {
			section = webpage.Plain(m[1])
			continue
		}
		m := linkLine.FindStringSubmatch(line)
		if m == nil || len(pages) == maxLinks {
			continue
		}
		if u := webaddress.Canonical(m[2], base); u != nil {
			pages = append(pages, page{address: u, title: webpage.Plain(m[1]), note: webpage.Plain(m[3]),
				section: section})
		}
	}
	return pages
}
