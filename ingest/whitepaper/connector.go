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
	"path"
	"strings"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/text/dates"
	"almanac/text/pdf"
	"almanac/text/webaddress"
)

// Kind is the kind of sources that network files call whitepaper.
var Kind = ingest.Kind[settings, ingest.Items]{
	Name:    "whitepaper",
	Summary: "Reads papers: PDF files listed in the network file.",
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
	Open: func(s settings, env ingest.Environment) (ingest.Connector[ingest.Items], error) {
		return connector{s.Papers, env}, nil
	},
}

type settings struct {
	Papers []paper `yaml:"papers" required:"true" unique:"slug"`
}

type paper struct {
	Slug        string   `yaml:"slug" format:"slug"`
	Title       string   `yaml:"title" required:"true"`
	URL         string   `yaml:"url" format:"address"`
	File        string   `yaml:"file" format:"file"`
	Page        string   `yaml:"page" format:"address"`
	Description string   `yaml:"description"`
	Tag         string   `yaml:"tag"`
	Authors     []string `yaml:"authors"`
	Published   string   `yaml:"published"`
}

// Check fills in the slug.
func (p *paper) Check() error {
	if p.URL == "" && p.File == "" {
		return errors.New("want a url or a file")
	}
	if p.Slug == "" {
		file := p.File
		if u := webaddress.Canonical(p.URL, nil); u != nil {
			file = u.Path
		}
		p.Slug = webaddress.Slug(strings.TrimSuffix(path.Base(file), path.Ext(file)))
		if p.Slug == "" {
			return errors.New("its file's name has no letters for a slug; give it one")
		}
	}
	return nil
}

type connector struct {
	papers []paper
	env    ingest.Environment
}

// types are the media types of PDF files and of unknown files.
var types = []string{"application/pdf", "application/x-pdf", "application/octet-stream", "binary/octet-stream"}

const (
	maxText  = 50_000   // characters
	maxBytes = 64 << 20 // of a file
)

// Sync implements ingest.Connector.
func (c connector) Sync(ctx context.Context, known ingest.Items, out ingest.Sink) (ingest.Items, ingest.Outcome, error) {
	items := make([]ingest.Item, len(c.papers))
	for i, p := range c.papers {
		items[i] = ingest.Item{Name: p.Slug, Address: p.URL, Accept: types, MaxBody: maxBytes, Own: true}
		if p.File != "" {
			items[i].Open = func() ([]byte, error) { return c.env.Read(p.File, maxBytes) }
		}
	}
	run := ingest.NewListing(c.env, catalog.KindWhitepaper, 0, known, out)
	err := run.Each(ctx, items, func(i int, file outbound.Response) (catalog.Entry, error) {
		e, err := entry(c.papers[i], file.Body)
		if err == nil && e.Record.Body == "" {
			out.Warn(e.Record.Key, "the file has no text layer: it is scanned, and only its description can be found")
		}
		return e, err
	})
	return run.Done(true, err)
}

// entry makes the record of a paper.
func entry(p paper, file []byte) (catalog.Entry, error) {
	text, pages, err := pdf.Text(file, maxText)
	if err != nil {
		return catalog.Entry{}, err
	}
	return catalog.Record{
		Kind: catalog.KindWhitepaper, Key: p.Slug, Title: p.Title, URL: cmp.Or(p.Page, p.URL), Category: p.Tag,
		Author: strings.Join(p.Authors, ", "), CreatedAt: dates.At(p.Published, dates.Day|dates.Month|dates.Year|dates.Free),
		Summary: cmp.Or(p.Description, derive.TLDR(text)), Body: text,
	}.With(catalog.Whitepaper{
		Authors: append([]string{}, p.Authors...), Pages: pages, PDF: p.URL, Bytes: int64(len(file)),
		Published: p.Published, TextLayer: text != "",
	})
}
