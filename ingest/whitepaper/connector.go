// Package whitepaper reads papers: PDF files listed in the network file.
//
// A paper becomes a record of kind whitepaper, keyed by its slug, with up to
// 50,000 characters of its text. A scanned paper has no text and is marked as
// such. A paper that cannot be read keeps its record.
package whitepaper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/folder"
	"almanac/ingest/listing"
	"almanac/ingest/memory"
	"almanac/ingest/outbound"
	"almanac/text/pdf"
	"almanac/text/webpage"
)

// rules is the version of how this package reads a paper. A new version makes
// the next run read every paper again.
const rules = "2"

const (
	maxText  = 50_000   // characters
	maxBytes = 64 << 20 // of a file
)

type options struct {
	Papers []paper `yaml:"papers"`
}

type paper struct {
	Slug        string   `yaml:"slug"`
	Title       string   `yaml:"title"`
	URL         string   `yaml:"url"`
	File        string   `yaml:"file" format:"path"`
	Page        string   `yaml:"page"`
	Description string   `yaml:"description"`
	Tag         string   `yaml:"tag"`
	Authors     []string `yaml:"authors"`
	Published   string   `yaml:"published"`
}

type connector struct {
	papers []paper
	env    ingest.Environment
}

// Kind is the kind of sources that network files call whitepaper.
var Kind = ingest.Described{
	Name:        "whitepaper",
	Summary:     "Reads papers: PDF files listed in the network file.",
	Constructor: New,
	Example: `sources:
  - name: papers
    kind: whitepaper
    every: 24h
    options:
      papers:                                            # each with a url or a file
        - title: A model of the tally                    # of the paper
          url: https://www.example.org/papers/tally.pdf  # of the file
          slug: tally-model                              # default: the file's name
          file: papers/tally.pdf                         # in the network's folder or ${corpus}; replaces url
          page: https://www.example.org/research/tally   # page about it; default: the url
          description: How keepers agree.                # default: from its text
          tag: research                                  # its category; default none
          authors: [Ada Quay]                            # default none
          published: 2031-05                             # as written; understood if a date, month or year
`,
}

// New makes the connector of a source; it is a Constructor of kind
// "whitepaper".
func New(src network.Source, env ingest.Environment) (ingest.Cursored, error) {
	var o options
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return nil, err
	}
	if len(o.Papers) == 0 {
		return nil, errors.New("option papers: want a list of papers, each with a title and a url or file")
	}
	if env.WorkDir == "" {
		return nil, errors.New("whitepaper: needs a working directory to remember what was seen")
	}
	met := map[string]bool{}
	for i := range o.Papers {
		p := &o.Papers[i]
		if err := p.complete(); err != nil {
			return nil, fmt.Errorf("option papers: number %d: %w", i+1, err)
		}
		if met[p.Slug] {
			return nil, fmt.Errorf("option papers: number %d: slug %q appears twice; give each paper its own", i+1,
				p.Slug)
		}
		met[p.Slug] = true
	}
	return &connector{o.Papers, env}, nil
}

var slugShape = regexp.MustCompile(`^[a-z0-9]+(?:[._-][a-z0-9]+)*$`)

// complete checks a paper and fills in defaults.
func (p *paper) complete() error {
	for name, raw := range map[string]string{"url": p.URL, "page": p.Page} {
		if raw != "" && webpage.Address(raw, nil) == nil {
			return fmt.Errorf("%s: want an address that begins with https://", name)
		}
	}
	switch {
	case p.URL == "" && p.File == "":
		return errors.New("want a url or a file")
	case p.Title == "":
		return errors.New("want a title")
	}
	if p.Slug == "" {
		file := p.File
		if u := webpage.Address(p.URL, nil); u != nil {
			file = u.Path
		}
		name := strings.ToLower(strings.TrimSuffix(path.Base(file), path.Ext(file)))
		p.Slug = strings.Trim(unslugged.ReplaceAllString(name, "-"), "-")
	}
	if !slugShape.MatchString(p.Slug) {
		return fmt.Errorf("slug %q: want lower-case letters, digits and hyphens", p.Slug)
	}
	return nil
}

var unslugged = regexp.MustCompile(`[^a-z0-9]+`)

// types are the media types of PDF files and of unknown files.
var types = []string{"application/pdf", "application/x-pdf", "application/octet-stream", "binary/octet-stream"}

// Sync implements ingest.Cursored. The cursor names the file with the memory
// of the papers.
func (c *connector) Sync(ctx context.Context, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	known := listing.Recall(c.env.WorkDir, cursor, memory.Settings(rules, c.papers))
	s := &syncRun{c, listing.NewRun(listing.Config{
		HTTP: c.env.HTTP, Out: out, Kind: catalog.KindWhitepaper, Known: known,
	}), out}
	for i, p := range c.papers {
		if err := s.paper(ctx, p); err != nil {
			return ingest.Outcome{}, fmt.Errorf("whitepaper: %w", err)
		}
		out.Progress(i+1, len(c.papers))
	}
	if err := s.Close(); err != nil {
		return ingest.Outcome{}, fmt.Errorf("whitepaper: %w", err)
	}
	cursor, err := s.Now.Remember(c.env.WorkDir, cursor)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("whitepaper: %w", err)
	}
	return ingest.Outcome{Cursor: cursor, Complete: s.Whole()}, nil
}

// syncRun is one pass over the papers.
type syncRun struct {
	*connector
	*listing.Run
	out ingest.Sink
}

var errGone = errors.New("its file no longer exists; correct its url in the list")

// paper reads a paper and writes its record. One whose file is gone is kept: it
// is in the list.
func (s *syncRun) paper(ctx context.Context, p paper) error {
	it := listing.Item{Name: p.Slug, Address: p.URL, Accept: types, MaxBody: maxBytes}
	if p.File != "" {
		return s.local(ctx, it, p)
	}
	old, known := s.Known.Items[p.Slug]
	answer, state, err := s.Ask(ctx, it)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch state {
	case listing.Kept:
		return nil
	case listing.Gone:
		if known {
			s.Known.Items[p.Slug] = old
		}
		s.Fail(it, errGone)
		return nil
	case listing.Failed:
		s.Fail(it, err)
		return nil
	}
	return s.put(ctx, it, p, answer)
}

// local reads a paper's file, if it changed.
func (s *syncRun) local(ctx context.Context, it listing.Item, p paper) error {
	files, name := s.env.Place(p.File)
	data, err := folder.Read(files, name, maxBytes)
	if err != nil {
		s.Fail(it, err)
		return nil
	}
	it.Stamp = listing.Stamp(data)
	if old, ok := s.Known.Items[p.Slug]; ok && !old.Pending && old.Stamp == it.Stamp {
		s.Keep(p.Slug)
		return nil
	}
	return s.put(ctx, it, p, outbound.Response{Body: data})
}

func (s *syncRun) put(ctx context.Context, it listing.Item, p paper, answer outbound.Response) error {
	e, err := entry(p, answer.Body)
	if err != nil {
		s.Fail(it, err)
		return nil
	}
	if e.Record.Body == "" {
		s.out.Warn(p.Slug, "the file has no text layer: it is scanned, and only its description can be found")
	}
	return s.Put(ctx, it, e, answer)
}

// entry makes the record of a paper.
func entry(p paper, file []byte) (catalog.Entry, error) {
	text, pages, err := pdf.Text(file, maxText)
	if err != nil {
		return catalog.Entry{}, err
	}
	authors := p.Authors
	if authors == nil {
		authors = []string{}
	}
	data, err := catalog.Encode(catalog.Whitepaper{
		Authors: authors, Pages: pages, PDF: p.URL, Bytes: int64(len(file)), Published: p.Published,
		TextLayer: text != "",
	})
	return catalog.Entry{Record: catalog.Record{
		Kind: catalog.KindWhitepaper, Key: p.Slug, Title: p.Title, URL: cmp.Or(p.Page, p.URL), Category: p.Tag,
		Author: strings.Join(authors, ", "), CreatedAt: date(p.Published),
		Summary: cmp.Or(p.Description, derive.TLDR(text)), Body: text, Data: data,
	}}, err
}

// date parses a date, a month or a year; zero if it is not valid.
func date(s string) time.Time {
	for _, layout := range []string{time.DateOnly, "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t
		}
	}
	return time.Time{}
}
