package library

import (
	"context"
	"math"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/read"
	"almanac/api/op"
	"almanac/catalog"
)

// Paper is a whitepaper in a list.
type Paper struct {
	Slug string `json:"slug"`
	kb.Item
	Description string `json:"description"`
	Tag         string `json:"tag"`
	Pages       int    `json:"pages"`
	PDF         string `json:"pdf" doc:"address of the file"`
}

var papers = kb.New(op.Spec{
	ID: "list_whitepapers", Path: "/api/v1/whitepapers", Tool: "list_whitepapers",
	Kinds: []catalog.Kind{catalog.KindWhitepaper},
	Doc: `
List whitepapers
Whitepapers with slug, title, description, tag and page count.

Lists the whitepapers by title. Read one with get_whitepaper and its slug.
`,
}, func(ctx context.Context, b kb.Base, _ struct{}) (kb.List[Paper], error) {
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindWhitepaper}, Order: catalog.ByTitle}
	return kb.Rows(ctx, b, q, arg.Paging{}, paper)
})

func paper(b kb.Base, r catalog.Record) (Paper, error) {
	d, err := kb.Decode[catalog.Whitepaper](r)
	return Paper{r.Key, b.Item(r), r.Summary, r.Category, d.Pages, d.PDF}, err
}

type paperIn struct {
	Slug   string     `json:"slug" required:"true" maxLength:"200" doc:"of list_whitepapers, or a search result's id"`
	Cursor arg.Cursor `json:"cursor"`
}

// FullPaper is a whitepaper with its text.
type FullPaper struct {
	Paper
	read.Text
}

var getPaper = kb.New(op.Spec{
	ID: "get_whitepaper", Path: "/api/v1/whitepapers/{slug}", Tool: "get_whitepaper", MayFail: notFound,
	Kinds: []catalog.Kind{catalog.KindWhitepaper},
	Doc: `
Read a whitepaper
One whitepaper with its extracted text.

Reads one whitepaper by its slug: title, tag, page count, PDF link and the extracted text, up to 50,000
characters at a time.
`,
}, func(ctx context.Context, b kb.Base, in paperIn) (f FullPaper, err error) {
	r, err := b.Keyed(ctx, catalog.KindWhitepaper, in.Slug)
	if err != nil {
		return f, err
	}
	if f.Paper, err = paper(b, r); err == nil {
		f.Text, err = read.Record(r, in.Cursor)
	}
	return f, err
})

// Video is a talk or recording in a list.
type Video struct {
	kb.Named
	Channel       string     `json:"channel"`
	Published     *time.Time `json:"published"`
	Description   string     `json:"description"`
	HasTranscript bool       `json:"has_transcript"`
	Seconds       *int       `json:"seconds" doc:"length"`
}

type videosIn struct {
	Channel       string  `json:"channel" maxLength:"200" doc:"only this channel"`
	Since         arg.Day `json:"since" doc:"only what was published this day or later"`
	HasTranscript *bool   `json:"has_transcript" doc:"only with a transcript, or only without one"`
	arg.Paging
}

var videos = kb.New(op.Spec{
	ID: "list_videos", Path: "/api/v1/videos", Tool: "list_videos", Kinds: []catalog.Kind{catalog.KindVideo},
	Doc: `
List talks and recordings
Videos by channel, newest first.

Lists talks and recordings, newest first; filter by channel, date or whether there is a transcript. Read one with
get_video.
`,
}, func(ctx context.Context, b kb.Base, in videosIn) (kb.List[Video], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindVideo}, Order: catalog.ByCreated,
		Since: in.Since.Time(), HasBody: in.HasTranscript, Containers: arg.Only(in.Channel, ""),
	}
	return kb.Rows(ctx, b, q, in.Paging, video)
})

func video(b kb.Base, r catalog.Record) (Video, error) {
	d, err := kb.Decode[catalog.Video](r)
	return Video{b.Named(r), r.Container, kb.Time(r.CreatedAt), r.Summary, d.HasTranscript, d.Seconds}, err
}

type videoIn struct {
	ID     string     `json:"id" required:"true" maxLength:"200" doc:"on the video platform, or the id of a search result"`
	Chars  *int       `json:"transcript_chars" minimum:"0" maximum:"200000" doc:"most of the transcript; all if left out"`
	Cursor arg.Cursor `json:"cursor"`
}

// FullVideo is a recording with its transcript.
type FullVideo struct {
	Video
	Transcript string `json:"transcript"`
	Truncated  bool   `json:"truncated" doc:"whether there is more: pass next_cursor as cursor"`
	NextCursor string `json:"next_cursor,omitempty"`

	part read.Text
}

// Shorten implements op.Shortener.
func (f *FullVideo) Shorten(tokens int) {
	f.part.Shorten(tokens)
	f.Transcript, f.Truncated, f.NextCursor = f.part.Content, f.part.Truncated, f.part.NextCursor
}

var getVideo = kb.New(op.Spec{
	ID: "get_video", Path: "/api/v1/videos/{id}", Tool: "get_video", MayFail: notFound,
	Kinds: []catalog.Kind{catalog.KindVideo},
	Doc: `
Read a talk
One talk or recording with its transcript.

Reads one talk by its id on the video platform: title, channel, date, description and the transcript if there is
one. Limit it with transcript_chars.
`,
}, func(ctx context.Context, b kb.Base, in videoIn) (f FullVideo, err error) {
	r, err := b.Keyed(ctx, catalog.KindVideo, in.ID)
	if err != nil {
		return f, err
	}
	if f.Video, err = video(b, r); err != nil {
		return f, err
	}
	most := math.MaxInt
	if in.Chars != nil {
		most = *in.Chars
	}
	f.part, err = read.CutAt(r.Body, in.Cursor, most)
	f.Transcript, f.Truncated, f.NextCursor = f.part.Content, f.part.Truncated, f.part.NextCursor
	return f, err
})
