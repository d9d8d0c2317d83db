package video

import (
	"cmp"
	"errors"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
	ext "github.com/mmcdole/gofeed/extensions"

	"almanac/catalog"
	"almanac/ingest/feed"
	"almanac/text/dates"
	"almanac/text/webaddress"
	"almanac/text/webpage"
)

// recording is the metadata of a recording.
type recording struct {
	said
	views int64 // changes all the time: no reason to read it again
	own   bool  // from the options
}

// said is what the feed or the options say of a recording. With something else it is
// read again.
type said struct {
	ID, Title, URL, Channel, Author string
	Description, Thumbnail          string
	Published                       time.Time
	Seconds                         *int
	Tags                            []string
	Transcripts                     []source // best first
}

// source is the location of a transcript.
type source struct {
	Address  string // or file name
	Language string
}

func (l listed) published() time.Time { return dates.At(l.Published, dates.Day|dates.Instant) }

func (l listed) recording() recording {
	v := recording{own: true, said: said{ID: l.ID, Title: l.Title, URL: l.URL, Description: l.Description}}
	v.Published = l.published()
	if l.Seconds > 0 {
		v.Seconds = &l.Seconds
	}
	if l.Transcript != "" {
		v.Transcripts = []source{{Address: l.Transcript}}
	}
	return v
}

var errNoID = errors.New("it has neither an id nor an address")

// fromFeed reads an item of a channel's feed (Media RSS 1.5.1, the podcast
// namespace).
func fromFeed(item *gofeed.Item, from string) (recording, error) {
	base, err := url.Parse(from)
	if err != nil {
		return recording{}, err
	}
	post, address := feed.Read(item, base)
	v := recording{said: said{Published: post.Published, Thumbnail: post.Image, Tags: post.Tags}}
	if address != nil {
		v.URL = address.String()
	}
	if v.ID = idOf(item, v.URL); v.ID == "" {
		return v, errNoID
	}
	if len(post.Authors) > 0 {
		v.Author = post.Authors[0]
	}
	v.Title = cmp.Or(post.Title, webpage.Plain(of(media(item, "title"), value)), v.ID)
	v.Description = cmp.Or(strings.TrimSpace(of(media(item, "description"), value)), post.Description, post.Content)
	if at := of(media(item, "thumbnail"), func(e ext.Extension) string { return e.Attrs["url"] }); at != "" {
		if u := webaddress.Canonical(at, base); u != nil {
			v.Thumbnail = u.String()
		}
	}
	for _, c := range media(item, "content") {
		if v.Seconds == nil {
			v.Seconds = length(c.Attrs["duration"])
		}
	}
	if v.Seconds == nil && item.ITunesExt != nil {
		v.Seconds = length(item.ITunesExt.Duration)
	}
	for _, c := range media(item, "community") {
		for _, statistics := range c.Children["statistics"] {
			if n, err := strconv.ParseInt(statistics.Attrs["views"], 10, 64); err == nil && n > 0 {
				v.views = n
			}
		}
	}
	for _, extensions := range item.Extensions {
		for _, t := range extensions["transcript"] {
			if u := webaddress.Canonical(t.Attrs["url"], base); t.Attrs["url"] != "" && u != nil &&
				readableAs(t.Attrs["type"], u.Path) {
				v.Transcripts = append(v.Transcripts, source{u.String(), t.Attrs["language"]})
			}
		}
	}
	return v, nil
}

// idShape is the form of ids: they are used in file names and addresses.
var idShape = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)

// idOf returns the recording's id on its platform: the feed's videoId, else the
// one in its address, else the end of its guid.
func idOf(item *gofeed.Item, address string) string {
	var candidates []string
	for _, extensions := range item.Extensions {
		for _, e := range extensions["videoId"] {
			candidates = append(candidates, strings.TrimSpace(e.Value))
		}
	}
	if u, err := url.Parse(address); err == nil {
		candidates = append(candidates, u.Query().Get("v"), path.Base(u.Path))
	}
	guid := strings.TrimRight(strings.TrimSpace(item.GUID), "/")
	candidates = append(candidates, guid[strings.LastIndexAny(guid, "/:=#")+1:])
	for _, id := range candidates {
		if idShape.MatchString(id) {
			return id
		}
	}
	return ""
}

// media returns the Media RSS elements of a name, outside of groups and inside.
func media(item *gofeed.Item, name string) []ext.Extension {
	elements := item.Extensions["media"]
	all := slices.Clone(elements[name])
	for _, group := range elements["group"] {
		all = append(all, group.Children[name]...)
	}
	return all
}

// of returns what the first element that has it says.
func of(elements []ext.Extension, what func(ext.Extension) string) string {
	for _, e := range elements {
		if s := what(e); s != "" {
			return s
		}
	}
	return ""
}

func value(e ext.Extension) string { return e.Value }

// length parses a duration of a podcast: seconds, or parts joined by colons.
// Nil if it is not valid.
func length(s string) *int {
	s, _, _ = strings.Cut(strings.TrimSpace(s), ".")
	seconds := 0
	parts := strings.Split(s, ":")
	for _, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 1_000_000 || len(parts) > 3 {
			return nil
		}
		seconds = seconds*60 + n
	}
	if seconds == 0 {
		return nil
	}
	return &seconds
}

// entry makes the record of a recording.
func (v recording) entry(t transcript) (catalog.Entry, error) {
	d := catalog.Video{HasTranscript: t.text != "", Seconds: v.Seconds, Thumbnail: v.Thumbnail, Cues: append([]catalog.Cue{}, t.cues...)}
	if d.HasTranscript {
		d.Language, d.Transcript = t.language, "manual"
		if t.automatic {
			d.Transcript = "automatic"
		}
	}
	return catalog.Record{
		Kind: catalog.KindVideo, Key: v.ID, Title: v.Title, URL: v.URL, Container: v.Channel, Author: v.Author,
		CreatedAt: v.Published, Views: v.views, Body: t.text, Summary: v.Description,
		Tags: catalog.Tags(catalog.TagLabel, v.Tags...),
	}.With(d)
}
