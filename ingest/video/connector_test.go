package video_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"almanac/catalog"
	"almanac/ingest/video"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// channel imitates a video platform's feed of a channel and a server of
// transcripts.
type channel struct {
	mu          sync.Mutex
	videos      []*fakeVideo // newest first
	size        int
	transcripts map[string]string // by path
	server      *connectortest.Server
	config      connectortest.Config
}

type fakeVideo struct {
	id, title string
	day       int
	views     int
}

const speech = "WEBVTT\n\n00:01.000 --> 00:04.000\nThe gate opens at the turn of the tide.\n\n01:01.500 --> " +
	"01:03.000\nSee CWP-12.\n"

func newChannel(t *testing.T, n int) *channel {
	c := &channel{size: 15, transcripts: map[string]string{}}
	for i := range n {
		c.add(i + 1)
	}
	c.server = connectortest.NewServer(t, c)
	c.config = connectortest.Config{Kind: video.Kind, Options: map[string]any{
		"feed": c.server.URL + "/feeds/videos.xml?channel_id=UC1", "transcripts": c.server.URL +
			"/t/{id}.{language}.vtt",
	}}
	return c
}

func (c *channel) add(i int) *fakeVideo {
	v := &fakeVideo{id: fmt.Sprintf("vid_%03d-x", i), title: fmt.Sprintf("Talk %d", i), day: i, views: 100 * i}
	c.videos = slices.Insert(c.videos, 0, v)
	c.transcripts["/t/"+v.id+".en.vtt"] = speech
	return v
}

func (c *channel) change(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *channel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.URL.Path == "/feeds/videos.xml" {
		w.Header().Set("Content-Type", "text/xml; charset=UTF-8")
		_, _ = w.Write([]byte(c.feed()))
		return
	}
	body, ok := c.transcripts[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/vtt")
	_, _ = w.Write([]byte(body))
}

func (v *fakeVideo) published() time.Time {
	return time.Date(2031, 4, 1, 8, 0, 0, 0, time.UTC).AddDate(0, 0, v.day)
}

func (c *channel) feed() string {
	var s strings.Builder
	s.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns:media="http://search.yahoo.com/mrss/" xmlns="http://www.w3.org/2005/Atom">
 <link rel="self" href="http://video.example.org/feeds/videos.xml"/><id>yt:channel:1</id><title>Causeway Talks</title><author><name>Causeway Talks</name></author>`)
	for _, v := range c.videos[:min(c.size, len(c.videos))] {
		fmt.Fprintf(&s, `
 <entry><id>yt:video:%[1]s</id><yt:videoId>%[1]s</yt:videoId><yt:channelId>UC1</yt:channelId><title>%[2]s</title>
  <link rel="alternate" href="https://video.example.org/watch?v=%[1]s"/><author><name>Causeway Talks</name></author>
  <published>%[3]s</published><updated>2031-05-%02[5]dT00:00:00+00:00</updated>
  <media:group><media:title>%[2]s</media:title><media:content url="https://video.example.org/v/%[1]s" type="application/x-shockwave-flash" width="640" height="390"/>
   <media:thumbnail url="https://i.example.org/vi/%[1]s/hqdefault.jpg" width="480" height="360"/><media:description>About %[2]s.
See https://example.org/</media:description>
   <media:community><media:starRating count="5" average="5.00" min="1" max="5"/><media:statistics views="%[4]d"/></media:community></media:group></entry>`,
			v.id, v.title, v.published().Format(time.RFC3339), v.views, v.views%28+1)
	}
	return s.String() + "</feed>"
}

func TestTalks(t *testing.T) {
	c := newChannel(t, 2)
	delete(c.transcripts, "/t/vid_002-x.en.vtt")
	r := connectortest.NewSource(t, c.config).Sync()
	if diff := cmp.Diff([]string{"video vid_001-x", "video vid_002-x"}, r.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	rec := r.Get(t, catalog.KindVideo, "vid_001-x")
	want := catalog.Record{
		Title: "Talk 1", URL: "https://video.example.org/watch?v=vid_001-x", Container: "Causeway Talks",
		Author: "Causeway Talks", Views: 100, CreatedAt: c.videos[1].published(),
		Summary: "About Talk 1.\nSee https://example.org/",
		Body:    "## 0:01 {#t=1}\n\nThe gate opens at the turn of the tide.\n\n## 1:01 {#t=61}\n\nSee CWP-12.",
	}
	got := catalog.Record{
		Title: rec.Title, URL: rec.URL, Container: rec.Container, Author: rec.Author, Views: rec.Views,
		CreatedAt: rec.CreatedAt, Summary: rec.Summary, Body: rec.Body,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	data := catalog.Video{
		HasTranscript: true, Transcript: "manual", Language: "en",
		Thumbnail: "https://i.example.org/vi/vid_001-x/hqdefault.jpg",
		Cues:      []catalog.Cue{{Seconds: 1, Offset: 16}, {Seconds: 61.5, Offset: 74}},
	}
	if diff := cmp.Diff(data, connectortest.Data[catalog.Video](t, rec)); diff != "" {
		t.Errorf("data (-want +got)\n%s", diff)
	}
	silent := connectortest.Data[catalog.Video](t, r.Get(t, catalog.KindVideo, "vid_002-x"))
	if silent.HasTranscript || silent.Cues == nil || r.Skipped+r.Warned != 0 {
		t.Errorf("without a transcript: %+v, %v", silent, r.Problems)
	}
}

func TestTalksThatTheFeedNoLongerNames(t *testing.T) {
	c := newChannel(t, 20)
	s := connectortest.NewSource(t, c.config)
	if r := s.Sync(); len(r.Records) != 15 {
		t.Fatalf("%d talks", len(r.Records))
	}
	c.change(func() {
		c.add(21) // talk 6 falls off the end
		c.videos = slices.DeleteFunc(c.videos, func(v *fakeVideo) bool { return v.id == "vid_015-x" })
		c.size = 14
	})
	if r := s.Sync(); len(r.Records) != 16 || r.Deleted != 0 {
		t.Errorf("%d talks, %d deleted: a feed may leave one out for once", len(r.Records), r.Deleted)
	}
	r := s.Sync()
	if len(r.Records) != 15 || r.Deleted != 1 || slices.Contains(r.Keys(), "video vid_015-x") {
		t.Errorf("%d talks, %d deleted", len(r.Records), r.Deleted)
	}
	connectortest.Unchanged(t, s, r)
	c.change(func() { c.videos = nil })
	if r = s.Sync(); len(r.Records) != 15 {
		t.Errorf("an empty feed left %d talks", len(r.Records))
	}
}

func TestVideosOfTheOptions(t *testing.T) {
	c := newChannel(t, 1)
	c.transcripts["/gate.srt"] = "1\n00:00:01,000 --> 00:00:02,000\nHow the gate was built.\n"
	c.config.Options["videos"] = []any{
		map[string]any{"id": "gate", "title": "The gate", "published": "2029-01-02", "seconds": 61,
			"transcript": c.server.URL + "/gate.srt", "url": "https://v.example.org/gate", "description": "Old."},
		map[string]any{"id": "vid_001-x", "title": "Twice"},
	}
	c.config.Options["channel"] = "Talks"
	s := connectortest.NewSource(t, c.config)
	r := s.Sync()
	rec := r.Get(t, catalog.KindVideo, "gate")
	if rec.Body != "## 0:01 {#t=1}\n\nHow the gate was built." || rec.Container != "Talks" || rec.Summary != "Old." ||
		rec.CreatedAt.Year() != 2029 || len(r.Records) != 2 {
		t.Errorf("%+v", rec)
	}
	if d := connectortest.Data[catalog.Video](t, rec); d.Seconds == nil || *d.Seconds != 61 {
		t.Errorf("%+v", d)
	}
	connectortest.Unchanged(t, s, r)
	delete(s.Options, "videos")
	if r = s.Sync(); r.Deleted != 1 || len(r.Records) != 1 {
		t.Errorf("%d deleted", r.Deleted)
	}
}

func TestTranscriptsOfThisMachine(t *testing.T) {
	c := newChannel(t, 4)
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("WEBVTT\n\n00:01.000 --> 00:02.000\n"+text+"\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("vid_001-x.de.vtt", "deutsch")
	write("vid_001-x.en-GB.vtt", "english")
	write("vid_002-x.vtt", "plain")
	write("A talk [vid_003-x].en.vtt", "downloaded")
	write("vid_004-xy.vtt", "of another")
	write("vid_004-x.txt", "no transcript")
	c.config.Options["transcripts"], c.config.CorpusDir = "${corpus}", dir
	s := connectortest.NewSource(t, c.config)
	r := s.Sync()
	for id, want := range map[string]string{"vid_001-x": "english", "vid_002-x": "plain", "vid_003-x": "downloaded",
		"vid_004-x": ""} {
		if got := strings.TrimPrefix(r.Get(t, catalog.KindVideo, id).Body, "## 0:01 {#t=1}\n\n"); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
	connectortest.Unchanged(t, s, r)
	write("vid_002-x.vtt", "corrected")
	write("vid_004-x.vtt", "late")
	if r = s.Sync(); r.Updated != 2 {
		t.Errorf("%d updated", r.Updated)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if bad := s.Try(t.Context()); bad.Err == nil || bad.Changes != 0 {
		t.Errorf("without the directory: %v, %d changes", bad.Err, bad.Changes)
	}
}

func TestOptions(t *testing.T) {
	const f = "https://video.example.org/feed"
	one := func(pairs ...any) []any {
		v := map[string]any{"id": "a", "title": "A"}
		for i := 0; i < len(pairs); i += 2 {
			v[pairs[i].(string)] = pairs[i+1]
		}
		return []any{v}
	}
	for problem, o := range map[string]map[string]any{
		"in option feed, or": {}, "feed: is not a web address": {"feed": "x"},
		"transcripts: want an address with {id}":  {"feed": f, "transcripts": "https://example.org/"},
		"videos[1]: the option id is missing":     {"videos": one("id", "")},
		`videos[2]: id "a" appears twice`:         {"videos": append(one(), one()...)},
		"videos[1].url: is not a web address":     {"videos": one("url", "ftp://x")},
		`videos[1]: published: "May 2031" is not`: {"videos": one("published", "May 2031")},
	} {
		if err := connectortest.Open(video.Kind, o); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v: %v, want %q", o, err, problem)
		}
	}
}

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		c := newChannel(t, 3)
		c.config.Options["videos"] = []any{map[string]any{"id": "gate", "title": "The gate"}}
		return connectortest.Upstream{Config: c.config, Server: c.server,
			Change: func() { c.change(func() { c.videos[1].title = "Talk 2, again" }) },
			Drop: func(s *connectortest.Source) {
				s.Options["channel"] = "Talks"
				delete(s.Options, "videos")
			},
		}
	})
}
