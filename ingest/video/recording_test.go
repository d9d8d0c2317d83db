package video

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/ingest/feed"
)

// podcast has what the podcast namespace and iTunes add to RSS.
const podcast = `<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="https://podcastindex.org/namespace/1.0" xmlns:media="http://search.yahoo.com/mrss/">
<channel><title>Talks</title><link>https://pod.example.org</link>
<item><title>The gate &amp;amp; the tide</title><link>/episodes/gate-7/</link><guid isPermaLink="false">https://pod.example.org/?p=7</guid><pubDate>Tue, 06 May 2031 08:00:00 +0200</pubDate>
<description>&lt;p&gt;Ada &lt;b&gt;opens&lt;/b&gt; it.&lt;/p&gt;</description><itunes:duration>1:02:03</itunes:duration><itunes:image href="/gate.png"/><category>Gates</category>
<podcast:transcript url="/gate.html" type="text/html"/><podcast:transcript url="/gate.de.srt" type="application/x-subrip" language="de"/><podcast:transcript url="/gate.vtt" type="text/vtt" language="en"/></item>
<item><guid>urn:uuid:0d9f</guid><media:content url="x.mp4" duration="90.5"/><media:thumbnail url="t.jpg"/></item>
<item><title>Without anything</title></item></channel></rss>`

func TestFromFeed(t *testing.T) {
	f, _, err := feed.Decode([]byte(podcast), "")
	if err != nil || len(f.Items) != 3 {
		t.Fatal(err)
	}
	hour, minute := 3723, 90
	want := []recording{
		{said: said{
			ID: "gate-7", Title: "The gate & the tide", URL: "https://pod.example.org/episodes/gate-7/",
			Description: "Ada **opens** it.", Thumbnail: "https://pod.example.org/gate.png",
			Published: time.Date(2031, 5, 6, 6, 0, 0, 0, time.UTC), Seconds: &hour, Tags: []string{"Gates"},
			Transcripts: []source{{"https://pod.example.org/gate.de.srt", "de"},
				{"https://pod.example.org/gate.vtt", "en"}},
		}},
		{said: said{ID: "0d9f", Title: "0d9f", Thumbnail: "https://pod.example.org/t.jpg", Seconds: &minute}},
	}
	for i, w := range want {
		got, err := fromFeed(f.Items[i], "https://pod.example.org/feed")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(w, got, cmp.AllowUnexported(recording{}, said{})); diff != "" {
			t.Errorf("item %d (-want +got)\n%s", i+1, diff)
		}
	}
	if _, err := fromFeed(f.Items[2], "https://pod.example.org/feed"); err == nil {
		t.Error("an item without id and address")
	}
}

func FuzzFromFeed(f *testing.F) {
	f.Add([]byte(podcast))
	f.Add([]byte(`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:yt="y" xmlns:media="http://search.yahoo.com/mrss/"><entry><yt:videoId>../x</yt:videoId><link href="?v=.."/>
<media:group><media:group><media:community><media:statistics views="-1"/></media:community></media:group><media:thumbnail/></media:group></entry></feed>`))
	f.Add([]byte(
		`{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"https://example.org/v/=","authors":[null]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsed, _, err := feed.Decode(data, "")
		if err != nil {
			return
		}
		for _, item := range parsed.Items {
			v, err := fromFeed(item, "https://example.org/feed")
			if err != nil {
				continue
			}
			if !idShape.MatchString(v.ID) || v.Title == "" || v.Seconds != nil && *v.Seconds <= 0 {
				t.Errorf("%+v", v)
			}
			for _, s := range v.Transcripts {
				if !isRemote(s.Address) { // else a feed could name files of this machine
					t.Errorf("a transcript at %q", s.Address)
				}
			}
			if _, err := v.entry(transcript{}); err != nil {
				t.Error(err)
			}
		}
	})
}
