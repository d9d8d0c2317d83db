// Package video reads the recordings of a channel: their metadata from its feed
// (Atom with Media RSS, or a podcast's RSS), their text from WebVTT or SubRip
// transcripts.
//
// A recording becomes a record of kind video, keyed by its id, whose text is
// its transcript under headings with the time; its data maps positions in the
// text to times. The transcript is the one named in videos or the feed
// (podcast:transcript), else the one that transcripts refers to: an address
// with {id} and {language}, or a file in a directory named id.language.vtt,
// id.vtt or "… [id].vtt", or the same with srt.
//
// The formats are parsed here and not by a library, because the existing ones
// reject a whole transcript for one malformed line.
//
// A feed has only the newest recordings; one that is no longer in it is kept,
// unless the feed contained an older one in two runs.
package video

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/feed"
	"almanac/ingest/listing"
	"almanac/ingest/memory"
	"almanac/ingest/outbound"
	"almanac/text/webpage"
)

// rules is the version of how this package reads a channel. A new version makes
// the next run read every recording again.
const rules = "1"

type options struct {
	Feed        string        `yaml:"feed"`
	Channel     string        `yaml:"channel"`
	Transcripts string        `yaml:"transcripts" format:"path"`
	Languages   []string      `yaml:"languages"`
	Sweep       time.Duration `yaml:"sweep"`
	Videos      []listed      `yaml:"videos"`
}

// listed is a recording in the options.
type listed struct {
	ID          string `yaml:"id"`
	Title       string `yaml:"title"`
	URL         string `yaml:"url"`
	Description string `yaml:"description"`
	Published   string `yaml:"published"`
	Seconds     int    `yaml:"seconds"`
	Transcript  string `yaml:"transcript" format:"path"`
}

type connector struct {
	opts options
	env  ingest.Environment
}

// Kind is the kind of sources that network files call video.
var Kind = ingest.Described{
	Name: "video",
	Summary: "Reads the recordings of a channel: their metadata from its feed (Atom with Media RSS, or a " +
		"podcast's RSS), their text from WebVTT or SubRip transcripts.",
	Constructor: New,
	Example: `sources:
  - name: talks
    kind: video
    every: 6h
    options:
      feed: https://video.example.org/feeds/videos.xml?channel_id=UC123  # of the channel
      channel: Example Talks    # default: the feed's title
      transcripts: https://files.example.org/{id}.{language}.vtt  # or a directory in the network's folder
      languages: [en, de]       # of transcripts, best first; default [en]
      sweep: 24h                # how often to check views and transcripts again; default 24h
      videos:                   # recordings that are not in the feed
        - id: dQ7x9                                    # stands for {id} above
          title: The second gate                       # of the recording
          url: https://video.example.org/watch?v=dQ7x9  # where to watch it; default none
          description: Ada Quay opens it.              # default none
          published: 2031-05-06                        # day, or time in RFC 3339; default unknown
          seconds: 1860                                # its length; default unknown
          transcript: https://files.example.org/gate.srt  # or a file
`,
}

// New makes the connector of a source; it is a Constructor of kind "video".
func New(src network.Source, env ingest.Environment) (ingest.Cursored, error) {
	o := options{Languages: []string{"en"}, Sweep: 24 * time.Hour}
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return nil, err
	}
	switch {
	case o.Feed == "" && len(o.Videos) == 0:
		return nil, errors.New("option feed: want the address of the channel's feed, or recordings in option videos")
	case o.Feed != "" && webpage.Address(o.Feed, nil) == nil:
		return nil, errors.New("option feed: want an address such as https://video.example.org/feeds/videos.xml")
	case isRemote(o.Transcripts) && !strings.Contains(o.Transcripts, "{id}"):
		return nil, errors.New("option transcripts: want an address with {id} in place of a recording's id, or a " +
			"directory")
	case o.Sweep <= 0:
		return nil, fmt.Errorf("option sweep: %s; want a duration such as 24h", o.Sweep)
	}
	met := map[string]bool{}
	for i, v := range o.Videos {
		_, dated := day(v.Published)
		switch {
		case v.ID == "" || v.Title == "":
			return nil, fmt.Errorf("option videos: number %d: want an id and a title", i+1)
		case met[v.ID]:
			return nil, fmt.Errorf("option videos: number %d: id %q appears twice", i+1, v.ID)
		case v.URL != "" && webpage.Address(v.URL, nil) == nil:
			return nil, fmt.Errorf("option videos: number %d: url: want an address that begins with https://", i+1)
		case v.Published != "" && !dated:
			return nil, fmt.Errorf("option videos: number %d: published: %q; want a date such as 2031-05-06", i+1,
				v.Published)
		}
		met[v.ID] = true
	}
	if env.WorkDir == "" {
		return nil, errors.New("video: needs a working directory to remember what was seen")
	}
	return &connector{o, env}, nil
}

// day parses a date with or without a time.
func day(s string) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

func isRemote(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://")
}

// feedTypes are the media types that feeds are served with; see package feed.
var feedTypes = []string{"application/atom+xml", "application/rss+xml", "application/xml", "application/octet-stream",
	"text/*"}

const maxFeed = 8 << 20 // bytes

// Sync implements ingest.Cursored. The cursor names the file with the memory
// of the recordings.
func (c *connector) Sync(ctx context.Context, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	known := listing.Recall(c.env.WorkDir, cursor, memory.Settings(rules, c.opts))
	s := &syncRun{connector: c, out: out, Run: listing.NewRun(listing.Config{
		HTTP: c.env.HTTP, Out: out, Kind: catalog.KindVideo, Known: known.State, Sweep: c.opts.Sweep, Now: c.env.Now(),
	})}
	if err := s.read(ctx); err != nil {
		return ingest.Outcome{}, fmt.Errorf("video: %w", err)
	}
	cursor, err := (listing.Memory{Settings: known.Settings, State: s.Now}).Remember(c.env.WorkDir, cursor)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("video: %w", err)
	}
	return ingest.Outcome{Cursor: cursor, Gone: s.Gone()}, nil
}

// syncRun is one pass over the channel.
type syncRun struct {
	*connector
	*listing.Run
	out    ingest.Sink
	files  []string // in the directory of transcripts
	failed int      // consecutive failed requests for transcripts
}

func (s *syncRun) read(ctx context.Context) error {
	recordings, oldest, err := s.recordings(ctx)
	if err != nil {
		return err
	}
	if s.opts.Transcripts != "" && !isRemote(s.opts.Transcripts) {
		if s.files, err = s.directory(s.opts.Transcripts); err != nil {
			return fmt.Errorf("option transcripts: %w", err)
		}
	}
	for i, v := range recordings {
		if err := s.recording(ctx, v); err != nil {
			return err
		}
		s.out.Progress(i+1, len(recordings))
	}
	for _, id := range s.Missing() {
		old := s.Known.Items[id]
		taken := !oldest.IsZero() && old.Date.After(oldest)
		if old.Own || taken && old.Unlisted {
			s.Drop(id)
			continue
		}
		s.KeepMissing(id, taken)
	}
	return nil
}

// recordings returns the recordings of the feed and the options, and the date
// of the oldest in the feed.
func (s *syncRun) recordings(ctx context.Context) (all []recording, oldest time.Time, err error) {
	channel := s.opts.Channel
	met := map[string]bool{}
	if s.opts.Feed != "" {
		answer, err := s.env.HTTP.Do(ctx, outbound.Request{URL: s.opts.Feed, Accept: feedTypes, MaxBody: maxFeed})
		if err != nil {
			return nil, oldest, err
		}
		f, unread, err := feed.Decode(answer.Body, answer.Header.Get("Content-Type"))
		if err != nil {
			return nil, oldest, fmt.Errorf("the channel's feed: %w", err)
		}
		if unread > 0 {
			s.out.Skip("the channel's feed", fmt.Errorf("%d items are not well-formed", unread))
		}
		if channel == "" {
			channel = webpage.Plain(f.Title)
		}
		for i, item := range f.Items {
			v, err := fromFeed(item, answer.URL)
			if err != nil {
				s.out.Skip(fmt.Sprintf("item %d of the feed", i+1), err)
				continue
			}
			if met[v.ID] {
				continue
			}
			met[v.ID] = true
			all = append(all, v)
			if !v.Published.IsZero() && (oldest.IsZero() || v.Published.Before(oldest)) {
				oldest = v.Published
			}
		}
	}
	for _, l := range s.opts.Videos {
		if !met[l.ID] {
			all = append(all, l.recording())
		}
	}
	for i := range all {
		all[i].Channel = channel
	}
	return all, oldest, nil
}

// hopeful is how long a recording without a transcript is checked in every run;
// after that with every sweep.
const hopeful = 30 * 24 * time.Hour

// recording writes a recording's record with its transcript, unless it is known
// to be unchanged.
func (s *syncRun) recording(ctx context.Context, v recording) error {
	candidates := s.candidates(v)
	it := listing.Item{Name: v.ID, Address: v.URL, Stamp: listing.Stamp(v, candidates, s.prints(candidates))}
	if old, ok := s.Known.Items[v.ID]; ok && !old.Pending && old.Stamp == it.Stamp && !s.Sweep() {
		s.Keep(v.ID)
		return nil
	}
	t, err := s.transcript(ctx, candidates)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	_, known := s.Known.Items[v.ID]
	switch {
	case err != nil && known:
		s.Fail(it, err)
		return nil
	case err != nil:
		s.out.Warn(v.ID, "its transcript could not be read: "+err.Error())
	}
	e, broken := v.entry(t)
	if broken != nil {
		s.Fail(it, broken)
		return nil
	}
	if err != nil || t.text == "" && len(candidates) > 0 && s.env.Now().Sub(v.Published) < hopeful {
		err = s.PutPending(ctx, it, e)
	} else {
		err = s.Put(ctx, it, e, outbound.Response{})
	}
	seen := s.Now.Items[v.ID]
	seen.Date, seen.Own = v.Published, v.own
	s.Now.Items[v.ID] = seen
	return err
}
