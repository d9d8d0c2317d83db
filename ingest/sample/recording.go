package sample

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// recording is the head of videos/ID.md. Its text is the transcript: paragraphs
// that begin with the time at which they are spoken, [3:10], and mostly with
// who speaks:
//
//	[0:01] Mirela Eelgrass: I have two chairs and a teapot.
type recording struct {
	Title       string `yaml:"title"`
	Published   string `yaml:"published"`
	Description string `yaml:"description"`
	Views       int    `yaml:"views"`
	Likes       int    `yaml:"likes"`
	Automatic   bool   `yaml:"automatic"` // the transcript was made by a program
}

// recordingsFeed is Atom as a video platform writes it.
type recordingsFeed struct {
	XMLName   xml.Name        `xml:"http://www.w3.org/2005/Atom feed"`
	YT        string          `xml:"xmlns:yt,attr"`
	Media     string          `xml:"xmlns:media,attr"`
	ID        string          `xml:"id"`
	Channel   string          `xml:"yt:channelId"`
	Title     string          `xml:"title"`
	Author    string          `xml:"author>name"`
	Published string          `xml:"published"`
	Entries   []recordingItem `xml:"entry"`
}

type recordingItem struct {
	ID      string `xml:"id"`
	VideoID string `xml:"yt:videoId"`
	Channel string `xml:"yt:channelId"`
	Title   string `xml:"title"`
	Link    struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
	} `xml:"link"`
	Author    string `xml:"author>name"`
	Published string `xml:"published"`
	Updated   string `xml:"updated"`
	Group     struct {
		Title     string `xml:"media:title"`
		Thumbnail struct {
			URL string `xml:"url,attr"`
		} `xml:"media:thumbnail"`
		Description string `xml:"media:description"`
		Community   struct {
			Rating struct {
				Count int `xml:"count,attr"`
			} `xml:"media:starRating"`
			Statistics struct {
				Views int `xml:"views,attr"`
			} `xml:"media:statistics"`
		} `xml:"media:community"`
	} `xml:"media:group"`
}

const (
	videoHost    = "https://video.causeway.example.org"
	videoChannel = "UCcausewayfictional0001"
)

// recordings writes the channel's feed and the transcripts.
func (w *world) recordings() error {
	const host = "web/video.causeway.example.org/"
	published := w.anchor.AddDate(0, 0, -400).Add(9 * time.Hour).Format(time.RFC3339)
	f := recordingsFeed{
		YT: "http://www.youtube.com/xml/schemas/2015", Media: "http://search.yahoo.com/mrss/",
		ID: "yt:channel:" + videoChannel[2:], Channel: videoChannel, Title: "Causeway Network",
		Author: "Causeway Foundation", Published: published,
	}
	for _, name := range below(w.files, "videos") {
		item, transcript, err := w.recording(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if transcript != "" {
			w.out[host+"transcripts/"+item.VideoID+".en.vtt"] = []byte(transcript)
		}
		f.Entries = append(f.Entries, item)
	}
	slices.SortFunc(f.Entries, func(a, b recordingItem) int { return strings.Compare(b.Published, a.Published) })
	return w.xml(host+"feeds/videos.xml", f)
}

func (w *world) recording(name string) (item recordingItem, transcript string, err error) {
	front, text, err := cutHead(w.files[name])
	if err != nil {
		return item, "", err
	}
	var head recording
	if err := decodeYAML(front, &head); err != nil {
		return item, "", err
	}
	at, err := moment(head.Published, w.anchor)
	if err != nil {
		return item, "", fmt.Errorf("published: %w", err)
	}
	id := base(name)
	item = recordingItem{ID: "yt:video:" + id, VideoID: id, Channel: videoChannel, Title: head.Title,
		Author: "Causeway Foundation"}
	item.Link.Rel, item.Link.Href = "alternate", videoHost+"/watch?v="+id
	item.Published, item.Updated = at.Format(time.RFC3339), at.Format(time.RFC3339)
	item.Group.Title, item.Group.Description = head.Title, strings.TrimSpace(head.Description)
	item.Group.Thumbnail.URL = videoHost + "/thumbnails/" + id + ".jpg"
	item.Group.Community.Rating.Count, item.Group.Community.Statistics.Views = head.Likes, head.Views
	if strings.TrimSpace(string(text)) == "" {
		return item, "", nil
	}
	transcript, err = webVTT(string(text), head.Automatic)
	return item, transcript, err
}

var turnStart = regexp.MustCompile(`^\[(\d+):([0-5]\d)\] (?:([A-Z][\p{L}]+ [A-Z][\p{L}]+|Causeway Foundation): )?`)

const (
	wordsOfCue  = 16
	timeOfWord  = 410 * time.Millisecond
	betweenCues = 100 * time.Millisecond
)

// webVTT cuts a transcript into captions as long as they take to say.
func webVTT(text string, automatic bool) (string, error) {
	var out strings.Builder
	out.WriteString("WEBVTT\n")
	if automatic {
		out.WriteString("Kind: asr\n")
	} else {
		out.WriteString("Kind: captions\n")
	}
	out.WriteString("Language: en\n")
	var end time.Duration
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		m := turnStart.FindStringSubmatch(paragraph)
		if m == nil {
			return "", fmt.Errorf("%.40q begins with no time such as [3:10]", paragraph)
		}
		minutes, _ := strconv.Atoi(m[1]) // digits
		seconds, _ := strconv.Atoi(m[2])
		start := time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second
		if start < end {
			return "", fmt.Errorf("%.40q begins before the paragraph above it is said, at %s", paragraph, end)
		}
		voice := ""
		if m[3] != "" {
			voice = "<v " + m[3] + ">"
		}
		for words := range slices.Chunk(strings.Fields(paragraph[len(m[0]):]), wordsOfCue) {
			end = start + time.Duration(len(words))*timeOfWord
			fmt.Fprintf(&out, "\n%s --> %s\n%s%s\n", clock(start), clock(end), voice, strings.Join(words, " "))
			start = end + betweenCues
		}
	}
	return out.String(), nil
}

func clock(d time.Duration) string {
	return fmt.Sprintf("%02d:%02d:%06.3f", int(d.Hours()), int(d.Minutes())%60, (d % time.Minute).Seconds())
}
