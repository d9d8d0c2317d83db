package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"almanac/catalog"
)

func docQuestions(t *testing.T, l *library) []question {
	berths := l.id(t, catalog.KindDoc, "docs/guide/berths.md")
	project := l.id(t, catalog.KindProject, "ferryline")
	cip := int(l.record(t, catalog.KindCIP, "CIP-0056").ID)
	byPath := fields{"title": "Book a berth", "kind": "doc", "path": "guide/berths.md", "truncated": false}
	return []question{
		{name: "papers", target: "/api/v1/whitepapers", tool: "list_whitepapers",
			want: fields{"items.*.slug": "tidal-consensus", "items.0.pages": 12,
				"items.0.pdf": "https://site.example/tidal.pdf"}},
		{name: "a paper", target: "/api/v1/whitepapers/tidal-consensus", tool: "get_whitepaper",
			args: `{"slug":"tidal-consensus"}`,
			want: fields{"content": "Ships vote by flag.", "truncated": false,
				"description": "How the tide orders ships."}},
		{name: "an unknown paper", target: "/api/v1/whitepapers/none", tool: "get_whitepaper", args: `{"slug":"none"}`,
			status: 404, message: `there is no "none" among the whitepapers`},
		{name: "talks", target: "/api/v1/videos?has_transcript=true", tool: "list_videos",
			args: `{"has_transcript":true,"since":"2030-04-15"}`,
			want: fields{"items.*.id": "vHarbour001", "items.0.has_transcript": true, "total": 1}},
		{name: "talks without transcripts", target: "/api/v1/videos?has_transcript=0", tool: "list_videos",
			args: `{"has_transcript":false}`, want: fields{"total": 0}},
		{name: "talks of a channel", target: "/api/v1/videos?channel=attic", tool: "list_videos",
			args: `{"channel":"attic"}`, want: fields{"total": 0, "hint": "no record has a container: leave it out"}},
		{name: "talks since later", target: "/api/v1/videos?since=2030-05-01", want: fields{"total": 0}},
		{name: "a talk", target: "/api/v1/videos/vHarbour001", tool: "get_video", args: `{"id":"vHarbour001"}`,
			want: fields{"transcript": "welcome aboard", "truncated": false, "description": "A tour."}},
		{name: "the beginning of a talk", target: "/api/v1/videos/vHarbour001?transcript_chars=7", tool: "get_video",
			args: `{"id":"vHarbour001","transcript_chars":7}`,
			want: fields{"transcript": "welcome", "truncated": true}},
		{name: "an unknown talk", target: "/api/v1/videos/none", tool: "get_video", args: `{"id":"none"}`, status: 404,
			message: "among the videos"},
		{name: "mail threads", tool: "list_mailing_threads",
			want: fields{"items.*.id": "cip-discuss-42", "items.0.group": "tide/pilot", "items.0.messages": 1}},
		{name: "mail threads on a proposal", tool: "list_mailing_threads", args: `{"cip_id":"56"}`,
			want: fields{"total": 1}},
		{name: "mail threads on another", tool: "list_mailing_threads", args: `{"cip_id":"7"}`,
			want: fields{"total": 0}},
		{name: "mail threads of no group", tool: "list_mailing_threads", args: `{"group":"attic"}`,
			want: fields{"total": 0, "hint": `no record has the container "attic": there are tide/pilot`}},
		{name: "a mail thread", tool: "get_mailing_thread", args: `{"id":"cip-discuss-42"}`,
			want: fields{"items.*.content": "Who feeds the gauge?", "total": 1, "title": "Oracle questions"}},
		{name: "an unknown mail thread", tool: "get_mailing_thread", args: `{"id":"cip-discuss-43"}`, status: 404,
			message: "among the mailing-list threads"},
		{name: "discussions", target: "/api/v1/forge-discussions?repo=Tide/Pilot", tool: "list_forge_discussions",
			args: `{"repo":"tide/pilot"}`, want: fields{"items.*.id": "D_kw1", "items.0.repo": "tide/pilot"}},
		{name: "discussions of no category", target: "/api/v1/forge-discussions?category=none",
			tool: "list_forge_discussions", args: `{"category":"none"}`, want: fields{"total": 0}},
		{name: "a discussion", target: "/api/v1/forge-discussions/D_kw1", tool: "get_forge_discussion",
			args: `{"id":"D_kw1"}`, want: fields{"content": "Brass or glass?", "items.*.content": "Brass.",
				"number": 7}},
		{name: "an unknown discussion", target: "/api/v1/forge-discussions/D_none", tool: "get_forge_discussion",
			args: `{"id":"D_none"}`, status: 404, message: "among the discussions on the forge"},
		{name: "records of a kind", target: "/api/v1/records?kind=video",
			want: fields{"items.*.key": "vHarbour001", "total": 1, "items.0.page": publicURL + "/talks/vHarbour001"}},
		{name: "parts of a record", target: fmt.Sprintf("/api/v1/records?kind=mail_message&order=key&parent=%s",
			l.id(t, catalog.KindMailThread, "cip-discuss-42")),
			want: fields{"total": 1, "items.0.kind": "mail_message"}},
		{name: "records of no kind", target: "/api/v1/records?kind=whale", status: 400, message: "kind must be one of"},
		{name: "a record", target: "/api/v1/records/" + project,
			want: fields{"kind": "project", "source": "curated", "parent": nil, "aliases.#": 0}},
		{name: "a record by its key", target: "/api/v1/records/vHarbour001?kind=video",
			want: fields{"page": publicURL + "/talks/vHarbour001"}},
		{name: "a draft that became a proposal", target: "/api/v1/records/PR-12?kind=cip",
			want: fields{"page": publicURL + "/cips/0007", "aliases.0": "PR-12"}},
		{name: "an unknown record", target: "/api/v1/records/none?kind=video", status: 404,
			message: "among the videos"},
		{name: "endpoints", target: "/api/v1/endpoints", want: fields{"total": 1, "items.0.address": "/gauges"}},
		{name: "endpoints of no API", target: "/api/v1/endpoints?api=whales", want: fields{"total": 0}},
		{name: "pages by path", target: "/api/v1/docs",
			want: fields{"items.*.path": "guide/berths.md,guide/tides and moons.md,run/fog.md", "total": 3, "limit": 20,
				"offset": 0, "items.0.section": "guide"}},
		{name: "pages of a source", target: "/api/v1/docs?source=ops-docs",
			want: fields{"items.*.title": "Run in fog", "total": 1}},
		{name: "pages of a repository", target: "/api/v1/docs?source=Harbour/docs&limit=1",
			want: fields{"items.#": 1, "total": 2}},
		{name: "pages of nothing", target: "/api/v1/docs?source=attic", want: fields{"items.#": 0, "total": 0}},
		{name: "a limit out of range", target: "/api/v1/docs?limit=101", status: 400,
			message: "limit must be between 1 and 100"},
		{name: "by record id", target: "/api/v1/docs/" + berths, tool: "get_doc", args: `{"id":` + berths + `}`,
			want: byPath},
		{name: "by path", target: "/api/v1/docs/guide/berths.md", want: byPath},
		{name: "by encoded path", target: "/api/v1/docs/guide%2Fberths.md", want: byPath},
		{name: "by path with a final slash", target: "/api/v1/docs/guide/berths.md/", want: byPath},
		{name: "by path with spaces", target: "/api/v1/docs/guide/tides%20and%20moons.md",
			want: fields{"title": "Almanac of tides", "truncated": true}},
		{name: "by encoded path with spaces", target: "/api/v1/docs/" + url.PathEscape("guide/tides and moons.md"),
			want: fields{"title": "Almanac of tides"}},
		{name: "by the path of another kind", target: "/api/v1/docs/cips/cip-0056.md",
			want: fields{"kind": "cip", "page": publicURL + "/cips/0056", "record_id": cip}},
		{name: "a kind without a text has its description", target: "/api/v1/docs/" + project, tool: "get_doc",
			args: `{"id":` + project + `}`, want: fields{"content": "Sells tickets for ferries.", "kind": "project"}},
		{name: "an unknown path", target: "/api/v1/docs/guide/none.md", status: 404,
			message: `there is no document "guide/none.md"`},
		{name: "a number that is not a record id", target: "/api/v1/docs/56", tool: "get_doc", args: `{"id":56}`,
			status: 404, message: "there is no record 56"},
		{name: "a topic's number is not a record id", target: "/api/v1/docs/1234", status: 404,
			message: "there is no CIP-1234"},
		{name: "a number too long for one", target: "/api/v1/docs/99999999999999999999", status: 404,
			message: "there is no document"},
		{name: "the id of a proposal in a search result", target: "/api/v1/docs/0056", tool: "get_doc",
			args: `{"id":"0056"}`, want: fields{"id": cip, "key": "CIP-0056"}},
		{name: "the id of a draft in a search result", target: "/api/v1/docs/PR-203", tool: "get_doc",
			args: `{"id":"PR-203"}`, want: fields{"key": "PR-203"}},
		{name: "lines with their numbers", target: "/api/v1/docs/" + berths + ":1-1", tool: "get_doc",
			args: `{"id":"` + berths + `:1"}`, want: fields{"section": berths + ":1-1"}},
		{name: "lines of a path", tool: "get_doc", args: `{"id":"guide/berths.md:1"}`,
			want: fields{"section": berths + ":1-1"}},
		{name: "lines that it has not", tool: "get_doc", args: `{"id":"` + berths + `:9000-9001"}`, status: 404,
			message: "there is no line 9000"},
		{name: "lines of no record", tool: "get_doc", args: `{"id":"56:1"}`, status: 404,
			message: `there is no document "56:1"`},
		{name: "a quoted number", tool: "get_doc", args: `{"id":"` + berths + `"}`, want: byPath},
		{name: "a path", tool: "get_doc", args: `{"id":"guide/berths.md"}`, want: byPath},
		{name: "a negative integer", tool: "get_doc", args: `{"id":-1}`, status: 404, message: "there is no record -1"},
		{name: "no id", tool: "get_doc", status: 400, message: "id is required"},
		{name: "NUL in a path", target: "/api/v1/docs/a%00b", status: 400, message: "id must be valid UTF-8"},
		{name: "broken UTF-8 in a path", target: "/api/v1/docs/%ff", status: 400, message: "id must be valid UTF-8"},
		{name: "a path too long for one", target: "/api/v1/docs/" + strings.Repeat("x", 1001), status: 400,
			message: "id must be at most 1000 characters long"},
		{name: "a cursor that is none", target: "/api/v1/docs/" + berths + "?cursor=next", tool: "get_doc",
			args: `{"id":` + berths + `,"cursor":"next"}`, status: 400, message: "cursor must be a next_cursor"},
		{name: "a negative cursor", target: "/api/v1/docs/" + berths + "?cursor=-5", status: 400,
			message: "cursor must be a next_cursor"},
		{name: "a cursor past the end", target: "/api/v1/docs/" + berths + "?cursor=100000", status: 400,
			message: "cursor must be a next_cursor"},
		{name: "a cursor inside a character",
			target: fmt.Sprintf("/api/v1/docs/guide/tides%%20and%%20moons.md?cursor=%d", strings.Index(longText, "û")+
				1), status: 400, message: "cursor must be a next_cursor"},
	}
}

// TestPagesOfALongTextJoin reads a text of characters of every length to its
// end on both interfaces.
func TestPagesOfALongTextJoin(t *testing.T) {
	l := open(t).ready(t)
	id := l.id(t, catalog.KindDoc, "docs/guide/tides and moons.md")
	for name, ask := range map[string]func(cursor string) string{
		"REST": func(cursor string) string {
			return do(l.public, "GET", "/api/v1/docs/"+id+"?cursor="+cursor, "").Body.String()
		},
		"tool": func(cursor string) string {
			answer, _ := call(t, l.public, "get_doc", `{"id":`+id+`,"cursor":"`+cursor+`"}`)
			return answer
		},
	} {
		var whole strings.Builder
		cursor, pages := "", 0
		for {
			var page struct {
				Content    string `json:"content"`
				Truncated  bool   `json:"truncated"`
				NextCursor string `json:"next_cursor"`
			}
			if err := json.Unmarshal([]byte(ask(cursor)), &page); err != nil {
				t.Fatal(err)
			}
			if n := utf8.RuneCountInString(page.Content); n > 50_000 || page.Truncated && n != 50_000 ||
				page.Truncated != (page.NextCursor != "") {
				t.Fatalf("%s: a page of %d characters, truncated %v, next %q", name, n, page.Truncated, page.NextCursor)
			}
			whole.WriteString(page.Content)
			pages++
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		if whole.String() != longText || pages != 3 {
			t.Errorf("%s: %d pages of %d bytes, want 3 of %d", name, pages, whole.Len(), len(longText))
		}
	}
}
