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
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/feed"
	"almanac/ingest/outbound"
	"almanac/text/options"
	"almanac/text/webaddress"
	"almanac/text/webpage"
)

// Kind is the kind of sources that network files call video.
var Kind = ingest.Kind[settings, ingest.Items]{
	Name: "video",
	Summary: "Reads the recordings of a channel: their metadata from its feed (Atom with Media RSS, or a " +
		"podcast's RSS), their text from WebVTT or SubRip transcripts.",
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
	Defaults: settings{Languages: []string{"en"}, Sweep: 24 * time.Hour},
	Open: func(s settings, env ingest.Environment) (ingest.Connector[ingest.Items], error) {
		return connector{s, env}, nil
	},
}

type settings struct {
	Feed        string        `yaml:"feed" format:"address"`
	Channel     string        `yaml:"channel"`
	Transcripts string        `yaml:"transcripts" format:"path"`
	Languages   []string      `yaml:"languages"`
	Sweep       time.Duration `yaml:"sweep" min:"1s"`
	Videos      []listed      `yaml:"videos" unique:"id"`
}

// listed is a recording in the options.
type listed struct {
	ID          string `yaml:"id" required:"true"`
	Title       string `yaml:"title" required:"true"`
	URL         string `yaml:"url" format:"address"`
	Description string `yaml:"description"`
	Published   string `yaml:"published"`
	Seconds     int    `yaml:"seconds"`
	Transcript  string `yaml:"transcript" format:"path"`
}

// Check checks what belongs together.
func (s *settings) Check() error {
	switch {
	case s.Feed == "" && len(s.Videos) == 0:
		return errors.New("want the address of the channel's feed in option feed, or recordings in option videos")
	case isRemote(s.Transcripts) && !strings.Contains(s.Transcripts, "{id}"):
		return options.Errorf("transcripts", "want an address with {id} in place of a recording's id, or a directory")
	}
	return nil
}

// Check checks the date.
func (l *listed) Check() error {
	if l.Published != "" && l.published().IsZero() {
		return options.Errorf("published", "%q is not a date: want one such as 2031-05-06", l.Published)
	}
	return nil
}

func isRemote(s string) bool { return webaddress.Host(s) != "" }

type connector struct {
	settings
	env ingest.Environment
}

// hopeful is how long a recording without a transcript is checked in every run;
// after that with every sweep.
const hopeful = 30 * 24 * time.Hour

// Sync implements ingest.Connector.
func (c connector) Sync(ctx context.Context, known ingest.Items, out ingest.Sink) (ingest.Items, ingest.Outcome, error) {
	run := ingest.NewListing(c.env, catalog.KindVideo, c.Sweep, known, out)
	return run.Done(false, c.read(ctx, run, out))
}

func (c connector) read(ctx context.Context, run *ingest.Listing, out ingest.Sink) error {
	recordings, oldest, err := c.recordings(ctx, out)
	if err != nil {
		return err
	}
	var files []string
	if c.Transcripts != "" && !isRemote(c.Transcripts) {
		if files, err = c.directory(c.Transcripts); err != nil {
			return fmt.Errorf("option transcripts: %w", err)
		}
	}
	places := make([][]source, len(recordings)) // of their transcripts
	items := make([]ingest.Item, len(recordings))
	for i, v := range recordings {
		places[i] = c.candidates(v, files)
		items[i] = ingest.Item{
			Name: v.ID, Address: v.URL, Stamp: ingest.Digest(v.said, places[i], c.prints(places[i])),
			Open: ingest.Nothing, Bare: func() (catalog.Entry, error) { return v.entry(transcript{}) },
			Date: v.Published, Own: v.own,
		}
	}
	hosts := &outbound.Hosts{Client: c.env.HTTP}
	err = run.Each(ctx, items, func(i int, _ outbound.Response) (catalog.Entry, error) {
		v := recordings[i]
		t, err := c.transcript(ctx, hosts, places[i])
		if err != nil {
			return catalog.Entry{}, err
		}
		items[i].Pending = t.text == "" && len(places[i]) > 0 && c.env.Now().Sub(v.Published) < hopeful
		return v.entry(t)
	})
	if err != nil {
		return err
	}
	for id, old := range run.Missing() {
		if taken := !oldest.IsZero() && old.Date.After(oldest); old.Own || taken && old.Unlisted {
			run.Drop(id)
		} else {
			run.KeepMissing(id, taken)
		}
	}
	return nil
}

// recordings returns the recordings of the feed and the options, and the date
// of the oldest in the feed.
func (c connector) recordings(ctx context.Context, out ingest.Sink) (all []recording, oldest time.Time, err error) {
	channel := c.Channel
	met := map[string]bool{}
	if c.Feed != "" {
		answer, err := c.env.HTTP.Do(ctx, feed.Request(c.Feed))
		if err != nil {
			return nil, oldest, err
		}
		f, unread, err := feed.Decode(answer.Body, answer.Header.Get("Content-Type"))
		if err != nil {
			return nil, oldest, fmt.Errorf("the channel's feed: %w", err)
		}
		if unread > 0 {
			out.Skip("the channel's feed", fmt.Errorf("%d items are not well-formed", unread))
		}
		channel = cmp.Or(channel, webpage.Plain(f.Title))
		for i, item := range f.Items {
			v, err := fromFeed(item, answer.URL)
			switch {
			case err != nil:
				out.Skip(fmt.Sprintf("item %d of the feed", i+1), err)
			case !met[v.ID]:
				met[v.ID] = true
				all = append(all, v)
				if !v.Published.IsZero() && (oldest.IsZero() || v.Published.Before(oldest)) {
					oldest = v.Published
				}
			}
		}
	}
	for _, l := range c.Videos {
		if !met[l.ID] {
			all = append(all, l.recording())
		}
	}
	for i := range all {
		all[i].Channel = channel
	}
	return all, oldest, nil
}
