package calendar

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/curated/entries"
	"almanac/ingest/folder"
	"almanac/ingest/outbound"
)

// Kind is the kind of sources that network files call calendar.
var Kind = ingest.Kind[settings, state]{
	Name: "calendar",
	Summary: "Reads an operations calendar: an iCalendar file (RFC 5545) as calendar servers publish it, or a " +
		"YAML list, from an address or a file in the network's folder.",
	Example: `sources:
  - name: operations
    kind: calendar
    every: 1h
    options:
      url: https://calendar.example.org/operations.ics  # or
      url_env: OPERATIONS_CALENDAR        # environment variable with a secret address; or
      file: calendar/operations.yaml      # in the network's folder; .ics, .yaml or .yml
      page: https://www.example.org/operations          # page for people: the url of events without one
      zone: Europe/Zurich                 # of times without a zone; default: the calendar's own, else UTC
      zones: {Ship Time: Etc/GMT-3}       # zone names in the calendar → IANA name
      back: 90                            # how many days of past occurrences of recurring events to read
      ahead: 400                          # how many days of future ones
      environments:                       # environment → words besides its name; default mainnet, testnet, devnet
        mainnet: [main network, production]
        baynet: [testnet]
      environment: mainnet                # of events that name none; default none
      types:                              # type → words, tried before the usual ones
        synchronizer_upgrade: [tide change]
      components:                         # component → how titles name it
        node:
          words: [causeway node]          # that name it, besides its own name
          release: "causeway/node@v{version}"  # key of the release record to link; default none
      validators: [keeper, keepers]       # who has to act; default validator(s), node operator(s)
      exclude: [standup, holiday]         # events with such a word in the title are ignored
`,
	Defaults: settings{Back: 90, Ahead: 400},
	Open: func(s settings, env ingest.Environment) (ingest.Connector[state], error) {
		err := s.reveal(env)
		return connector{s, env}, err
	},
}

type connector struct {
	options settings
	env     ingest.Environment
}

// state is what one run passes to the next.
type state struct {
	Place    string `json:"place"` // digest of the address and of the day, which the window depends on
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"`
	// Known has the keys of the records that had not ended, with their ends in
	// Unix seconds.
	Known map[string]int64 `json:"known,omitempty"`
}

// Stale is what a run that reads the calendar otherwise must know.
func (s state) Stale() state { return state{Known: s.Known} }

// Sync implements ingest.Connector.
func (c connector) Sync(ctx context.Context, before state, out ingest.Sink) (state, ingest.Outcome, error) {
	now := c.env.Now().UTC()
	next := state{Place: ingest.Digest(c.options.URL, now.Format(time.DateOnly)), Known: map[string]int64{}}
	answer, err := c.fetch(ctx, before, next.Place == before.Place)
	if err != nil || answer.NotModified {
		return before, ingest.Outcome{}, err
	}
	if err := out.Begin(answer.Body); err != nil {
		return state{}, ingest.Outcome{}, err
	}
	r, err := c.read(answer, now)
	if err != nil {
		return state{}, ingest.Outcome{}, err
	}
	shown, hidden, err := r.expand(ctx)
	if err != nil {
		return state{}, ingest.Outcome{}, err
	}
	c.report(r, out)
	for i, o := range shown {
		e, err := o.entry(&c.options)
		if err == nil {
			err = out.Put(ctx, e)
		}
		if err != nil {
			return state{}, ingest.Outcome{}, err
		}
		if o.over().After(now) {
			next.Known[o.key] = o.over().Unix()
		}
		out.Progress(i+1, len(shown))
	}
	gone := next.settle(before, shown, hidden, r, now)
	if len(r.problems) == 0 { // otherwise the next run reads and reports them again
		next.ETag, next.Modified = answer.ETag, answer.LastModified
	}
	return next, ingest.Outcome{Gone: gone}, nil
}

// settle decides about known records that this run has not seen: events that
// have ended are history, those that could not be read stay, the rest is gone.
func (s *state) settle(before state, shown []occurrence, hidden []string, r *reading, now time.Time) []catalog.Ref {
	met := map[string]bool{}
	for _, o := range shown {
		met[o.key] = true
	}
	gone := slices.Clone(hidden)
	for key, ends := range before.Known {
		series, _, _ := strings.Cut(key, between)
		switch {
		case met[key] || ends <= now.Unix() || slices.Contains(hidden, key):
		case r.lost || r.broken[series]:
			s.Known[key] = ends
		default:
			gone = append(gone, key)
		}
	}
	refs := make([]catalog.Ref, len(gone))
	for i, key := range gone {
		refs[i] = catalog.Ref{Kind: catalog.KindOperation, Key: key}
	}
	return refs
}

const maxBytes = 32 << 20

// accepted are the media types of calendars, and those that servers use for
// unknown files.
var accepted = []string{
	"text/*", "application/ics", "application/octet-stream", "binary/octet-stream",
	"application/yaml", "application/x-yaml",
}

// fetch reads the calendar. If conditional, an unchanged one is not read again.
func (c connector) fetch(ctx context.Context, before state, conditional bool) (outbound.Response, error) {
	if c.options.File != "" {
		data, err := c.env.Read(c.options.File, maxBytes)
		if err != nil {
			return outbound.Response{}, fmt.Errorf("%s: %w", c.options.File, folder.Reason(err))
		}
		tag := ingest.Digest(data)
		return outbound.Response{Body: data, ETag: tag, NotModified: conditional && tag == before.ETag}, nil
	}
	request := outbound.Request{URL: c.options.URL, Accept: accepted, MaxBody: maxBytes}
	if isYAML(c.name()) {
		request.MaxBody = int64(entries.Foreign.Bytes)
	}
	if conditional {
		request.ETag, request.LastModified = before.ETag, before.Modified
	}
	answer, err := c.env.HTTP.For(c.options.URL).Do(ctx, request) // the options may name it by a variable
	if err != nil {
		return answer, veil(err, c.options.URL)
	}
	return answer, nil
}

// veiled is an error about an address without its path, which is a secret: for
// a private calendar, whoever has the address can read it.
type veiled struct {
	error
	text string
}

func (v veiled) Error() string { return v.text }
func (v veiled) Unwrap() error { return v.error }

func veil(err error, address string) error {
	text := err.Error()
	if u, parsed := url.Parse(address); parsed == nil {
		for _, path := range []string{u.EscapedPath(), u.Path} {
			if len(path) > 1 {
				text = strings.ReplaceAll(text, path, "/…")
			}
		}
	}
	return veiled{err, text}
}

// name returns the name of the calendar's file: "" if only its address is known,
// unless that ends like that of a YAML file.
func (c connector) name() string {
	if c.options.File != "" {
		return c.options.File
	}
	if u, err := url.Parse(c.options.URL); err == nil && isYAML(u.Path) {
		return "calendar.yaml"
	}
	return ""
}

// read reads the events of a calendar.
func (c connector) read(answer outbound.Response, now time.Time) (*reading, error) {
	day := now.Truncate(24 * time.Hour)
	r := newReading(&c.options, day.AddDate(0, 0, -c.options.Back), day.AddDate(0, 0, c.options.Ahead+1))
	if c.options.Zone != "" {
		r.zone = located(iana(c.options.Zone))
	}
	name := c.name()
	if isYAML(name) {
		return r, r.readYAML(name, string(answer.Body))
	}
	err := r.readICS(straighten(answer.Body, answer.Header.Get("Content-Type")))
	if err != nil && name != "" {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return r, err
}

// report reports the warnings and problems of the calendar.
func (c connector) report(r *reading, out ingest.Sink) {
	at := func(line int) string {
		if c.options.File != "" {
			return fmt.Sprintf("%s:%d", c.options.File, line)
		}
		return fmt.Sprintf("line %d", line)
	}
	for _, p := range r.warnings {
		out.Warn(at(p.line), p.err.Error())
	}
	for _, p := range r.problems {
		out.Skip(at(p.line), p.err)
	}
}
