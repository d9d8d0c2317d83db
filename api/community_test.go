package api_test

import (
	"strings"
	"testing"

	"almanac/catalog"
)

func communityQuestions(t *testing.T, l *library) []question {
	grant, topic := l.id(t, catalog.KindGrant, "33"), l.id(t, catalog.KindTopic, "1234")
	newest := func(t *testing.T, answer any) {
		whens, _ := at(answer, "items.*.when")
		last := "9"
		for w := range strings.SplitSeq(whens.(string), ",") {
			if w > last {
				t.Errorf("%s after %s", w, last)
			}
			last = w
		}
	}
	none := fields{"counts.cip_status_change": 0, "counts.new_cip": 0, "counts.new_proposal": 0,
		"counts.new_forum_topic": 0, "counts.new_blog_post": 0, "counts.new_release": 1, "counts.new_radar_item": 0}
	none["total"], none["items.0.title"] = 1, "Pilot 1.3.0-rc.1"
	return []question{
		{name: "a week", target: "/api/v1/changes", tool: "get_recent_changes", check: newest, want: fields{
			"window_days": 7, "total": 8, "items.#": 8, "counts.cip_status_change": 2, "counts.new_cip": 1,
			"counts.new_proposal": 1, "counts.new_forum_topic": 1, "counts.new_blog_post": 1,
			"counts.new_release": 2, "counts.new_radar_item": 0, "items.0.kind": "cip_status_change",
			"items.0.id": "0056", "items.0.title": "CIP-0056 Tide oracle: Draft → Review",
			"items.0.meta.to": "Review"}},
		{name: "counts are of the window before the limit", target: "/api/v1/changes?limit=2",
			tool: "get_recent_changes", args: `{"limit":2}`,
			want: fields{"items.#": 2, "total": 8, "counts.new_release": 2, "counts.new_cip": 1}},
		{name: "a change of a proposal without a file", target: "/api/v1/changes?days=9&since=2030-05-06",
			want: fields{"counts.cip_status_change": 3, "items.8.title": "CIP-0099: Draft → Withdrawn",
				"items.8.url": "https://forge.example/commit/CIP-0099"}},
		{name: "ids open detail paths", target: "/api/v1/changes?since=2030-05-09",
			want: fields{
				"items.*.kind": "cip_status_change,new_release,new_release,new_blog_post,new_cip,new_proposal,new_forum_topic", "items.4.id": "PR-203", "items.5.id": grant, "items.6.id": topic}},
		{name: "since a day", target: "/api/v1/changes?since=2030-05-15", want: fields{"window_days": 1, "total": 2}},
		{name: "since now", target: "/api/v1/changes?since=2030-05-15T12:00:00Z",
			want: fields{"window_days": 1, "total": 2}},
		{name: "since exactly a week", target: "/api/v1/changes?since=2030-05-08T14:00:00%2B02:00",
			want: fields{"window_days": 7, "total": 8}},
		{name: "since takes the place of days", target: "/api/v1/changes?days=90&since=2030-05-15",
			want: fields{"window_days": 1}},
		{name: "since the future", target: "/api/v1/changes?since=2030-05-16", status: 400,
			message: "since must be in the past"},
		{name: "since a word", target: "/api/v1/changes?since=yesterday", status: 400,
			message: "since must be an ISO 8601 date"},
		{name: "a tool has no since", tool: "get_recent_changes", args: `{"since":"2030-05-15"}`, status: 400,
			message: `unknown argument "since"`},

		{name: "what is trending", target: "/api/v1/trending", tool: "get_trending",
			want: fields{"window_days": 7, "items.0.title": "Pilot 1.3.0-rc.1", "items.0.fresh": true,
				"items.3.kind": "topic", "items.3.new": 2, "as_of": "2030-05-15T12:00:00Z"}},
		{name: "a thread with its posts", target: "/api/v1/discussions/1234", tool: "get_discussion",
			args: `{"id":1234}`, want: fields{
				"id": 1234, "posts": 2, "items.*.number": "1,2", "items.1.content": "After CIP-56.", "truncated": false,
				"total": 2}},
		{name: "a thread by the id of a search result", target: "/api/v1/discussions/" + topic, tool: "get_discussion",
			args: `{"id":"` + topic + `"}`, want: fields{"id": 1234}},
		{name: "a thread by one of its posts", target: "/api/v1/discussions/" + l.id(t, catalog.KindPost, "1234/2"),
			want: fields{"id": 1234}},
		{name: "a record of another kind is not a thread", target: "/api/v1/discussions/" + grant,
			tool: "get_discussion", args: `{"id":` + grant + `}`, status: 404, message: "among the forum threads"},
		{name: "an unknown thread", target: "/api/v1/discussions/77", tool: "get_discussion", args: `{"id":77}`,
			status: 404, message: `there is no "77" among the forum threads`},
		{name: "a cursor past the thread's end", target: "/api/v1/discussions/1234?cursor=2", status: 400,
			message: "cursor must be a next_cursor"},

		{name: "open grants, newest first", target: "/api/v1/proposals", tool: "get_proposals",
			want: fields{"items.*.number": "33,31", "total": 2, "limit": 20, "offset": 0, "items.1.cips.0": "0056",
				"items.1.milestones.0.title": "Sensors", "items.0.milestones.#": 0, "items.0.labels.#": 0,
				"items.0.board_status": nil, "items.0.state": "open"}},
		{name: "closed grants", target: "/api/v1/proposals?state=closed", tool: "get_proposals",
			args: `{"state":"Closed"}`, want: fields{"items.*.id": "32", "total": 1,
				"items.0.board_status": "Delivered", "items.0.merged": true}},
		{name: "further files of a grant are not counted", target: "/api/v1/proposals?state=all", tool: "get_proposals",
			args: `{"state":"all"}`, want: fields{"items.*.id": "33,31,32", "total": 3}},
	}
}
