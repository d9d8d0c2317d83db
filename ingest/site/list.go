package site

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/temoto/robotstxt"

	"almanac/ingest/outbound"
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

// list finds the pages of the site.
func (s *syncRun) list(ctx context.Context) error {
	robots, err := s.robots(ctx)
	if err != nil {
		return err
	}
	add := func(p page) {
		p.name = webpage.Key(p.address)
		allowed := robots == nil || robots.TestAgent(p.address.RequestURI(), outbound.DefaultUserAgent)
		switch {
		case s.listed[p.name] || host(p.address) != host(s.start) || !s.scope.Holds(p.address) || !allowed:
		case len(s.pages) == s.opts.MaxPages:
			if s.whole {
				s.out.Warn(s.opts.Name, fmt.Sprintf("the site lists more than the %d pages of option max_pages; the "+
					"rest is skipped", s.opts.MaxPages))
			}
			s.whole = false
		default:
			s.listed[p.name] = true
			s.pages = append(s.pages, p)
		}
	}
	if s.opts.LLMs != "" {
		return s.llms(ctx, add)
	}
	maps := []*url.URL{webpage.Address(s.opts.Sitemap, nil)}
	if s.opts.Sitemap == "" {
		maps = []*url.URL{s.start.ResolveReference(&url.URL{Path: "/sitemap.xml"})}
		if robots != nil && len(robots.Sitemaps) > 0 {
			maps = nil
			for _, raw := range robots.Sitemaps {
				if u := webpage.Address(raw, s.start); u != nil {
					maps = append(maps, u)
				}
			}
		}
	}
	return s.sitemaps(ctx, maps, add)
}

// robots reads the site's robots.txt; nil if it has none (RFC 9309, 2.3.1.3).
func (s *syncRun) robots(ctx context.Context) (*robotstxt.RobotsData, error) {
	answer, err := s.env.HTTP.Do(ctx, outbound.Request{
		URL: s.start.ResolveReference(&url.URL{Path: "/robots.txt"}).String(), Accept: listTypes, MaxBody: maxList,
	})
	status, refused := errors.AsType[*outbound.StatusError](err)
	switch {
	case refused && status.Status < http.StatusInternalServerError && status.Status != http.StatusTooManyRequests,
		errors.Is(err, outbound.ErrContentType), errors.Is(err, outbound.ErrTooLarge):
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

// mapQueue are the sitemaps to read. What a site lists is its author's word, so
// their number is bounded, and all are on the site's host or on that of the
// sitemap which the options name.
type mapQueue struct {
	run     *syncRun
	waiting []*url.URL
	met     map[string]bool // waiting or read
	bytes   int64           // read
	cut     map[string]bool // reasons why some are left out, each reported once
}

func (q *mapQueue) add(maps ...*url.URL) {
	named := webpage.Address(q.run.opts.Sitemap, nil)
	for _, u := range maps {
		switch at := u.String(); {
		case q.met[at]:
		case host(u) != host(q.run.start) && (q.run.opts.Sitemap == "" || host(u) != host(named)):
			q.leave("a sitemap on another host is skipped: " + host(u))
		case len(q.met) == maxMaps:
			q.leave(fmt.Sprintf("the site has more than %d sitemaps; the rest is skipped", maxMaps))
			return
		default:
			q.met[at] = true
			q.waiting = append(q.waiting, u)
		}
	}
}

// next returns the next sitemap; nil if there is none, or too much was read.
func (q *mapQueue) next() *url.URL {
	if len(q.waiting) > 0 && q.bytes > maxMapBytes {
		q.leave(fmt.Sprintf("the site's sitemaps have more than %d MB; the rest is skipped", maxMapBytes>>20))
		return nil
	}
	if len(q.waiting) == 0 {
		return nil
	}
	u := q.waiting[0]
	q.waiting = q.waiting[1:]
	return u
}

// leave reports that the list is incomplete.
func (q *mapQueue) leave(why string) {
	q.run.whole = false
	if !q.cut[why] && len(q.cut) < maxReasons {
		q.cut[why] = true
		q.run.out.Warn(q.run.opts.Name, why)
	}
}

// sitemaps reads sitemaps, recursively. If one of several cannot be read, the
// list is incomplete.
func (s *syncRun) sitemaps(ctx context.Context, maps []*url.URL, add func(page)) error {
	q := &mapQueue{run: s, met: map[string]bool{}, cut: map[string]bool{}}
	q.add(maps...)
	read := 0
	var last error
	for at := q.next(); at != nil; at = q.next() {
		answer, err := s.env.HTTP.Do(ctx, outbound.Request{URL: at.String(), Accept: mapTypes, MaxBody: maxMap})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		q.bytes += int64(len(answer.Body))
		var m webpage.Sitemap
		if err == nil {
			m, err = webpage.ParseSitemap(answer.Body, at)
		}
		if err != nil {
			last, s.whole = err, false
			s.out.Skip(webpage.Key(at), err)
			continue
		}
		read++
		q.add(m.Maps...)
		for _, l := range m.Pages {
			add(page{address: l.URL, stamp: l.LastMod})
		}
	}
	switch {
	case read == 0 && last != nil:
		return fmt.Errorf("no sitemap could be read: %w", last)
	case len(s.pages) == 0 && !s.whole:
		return errors.New("the sitemaps that could be read list no page of the site")
	}
	return nil
}

// llms reads an llms.txt (llmstxt.org).
func (s *syncRun) llms(ctx context.Context, add func(page)) error {
	at := webpage.Address(s.opts.LLMs, nil)
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
		if u := webpage.Address(m[2], base); u != nil {
			pages = append(pages, page{address: u, title: webpage.Plain(m[1]), note: webpage.Plain(m[3]),
				section: section})
		}
	}
	return pages
}
